"""Runs the extraction child and takes its frames, trusting neither its speed nor its size."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING

import psutil
from django.conf import settings

from apps.documents.errors import (
    ExtractionLimitError,
    ExtractionStoppedError,
    ExtractionTimeoutError,
)
from apps.documents.reading.collected import CollectedText
from apps.documents.reading.frames import FrameError, FrameReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from apps.documents.reading.limits import ReadLimits
    from apps.documents.reading.pages import ExtractedText

CHILD_MODULE = "apps.documents.reading.child"
TICK_S = 0.5
READ_BYTES = 1 << 20
# JSON takes at most six bytes for a character (an escaped control); headings repeat some text.
MAX_BYTES_PER_CHAR = 8
MAX_OVERHEAD_BYTES = 64 << 20


class ChildExtraction:
    """One reading of one file in a process of its own."""

    def __init__(self, path: Path, file_type: str, limits: ReadLimits) -> None:
        self._arguments = [str(path), file_type, json.dumps(asdict(limits))]
        self._limits = limits
        self._deadline = time.monotonic() + limits.timeout_s

    def run(
        self,
        *,
        on_progress: Callable[[int, int], None] | None,
        should_stop: Callable[[], bool] | None,
    ) -> ExtractedText:
        """Return the text that the child sent; the child is gone afterwards in any case.

        Raises:
            UnreadableError: the child tells why the file cannot be read.
            AppError: ExtractionTimeoutError, ExtractionLimitError or ExtractionStoppedError.
        """
        collected = CollectedText(max_pages=self._limits.max_pages)
        with self._spawn() as child:
            try:
                for frame in self._frames(child, should_stop):
                    collected.take(frame)
                    if on_progress and collected.total:
                        on_progress(len(collected.pages), collected.total)
                status = child.wait(timeout=max(TICK_S, self._deadline - time.monotonic()))
            except (FrameError, subprocess.TimeoutExpired) as error:
                raise ExtractionLimitError from error
            finally:
                child.kill()
        if status == -signal.SIGXCPU:
            raise ExtractionTimeoutError
        if status or not collected.is_complete:
            raise ExtractionLimitError
        return collected.text()

    def _spawn(self) -> subprocess.Popen[bytes]:
        """Start the child: no shell, none of our configuration, ends when our pipe closes."""
        return subprocess.Popen(  # noqa: S603 - our own module, arguments are no shell words
            [sys.executable, "-m", CHILD_MODULE, *self._arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=settings.BASE_DIR,
            env=settings.ENV.bare_environment(),
        )

    def _frames(
        self, child: subprocess.Popen[bytes], should_stop: Callable[[], bool] | None
    ) -> Iterator[dict[str, object]]:
        reader = FrameReader(
            max_bytes=MAX_BYTES_PER_CHAR * self._limits.max_text_chars + MAX_OVERHEAD_BYTES
        )
        for data in self._output(child):
            yield from reader.feed(data)
            if should_stop and should_stop():
                raise ExtractionStoppedError
            if time.monotonic() > self._deadline:
                raise ExtractionTimeoutError
            self._check_memory(child)

    def _output(self, child: subprocess.Popen[bytes]) -> Iterator[bytes]:
        """Yield what the child writes, and b"" after each half second of silence."""
        assert child.stdout  # noqa: S101 - opened as a pipe above
        descriptor = child.stdout.fileno()
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            while True:
                if not selector.select(TICK_S):
                    yield b""
                    continue
                data = os.read(descriptor, READ_BYTES)
                if not data:
                    return
                yield data

    def _check_memory(self, child: subprocess.Popen[bytes]) -> None:
        """Raise ExtractionLimitError over the memory limit, which not every system enforces."""
        with suppress(psutil.Error):
            if psutil.Process(child.pid).memory_info().rss > self._limits.memory_mib << 20:
                raise ExtractionLimitError
