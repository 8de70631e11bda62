"""The one way to a file's text: through a child that is trusted with neither time nor size."""

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

from apps.documents import errors
from apps.documents.reading.failures import UnreadableError
from apps.documents.reading.frames import CollectedText, FrameError, FrameReader, part_of
from apps.documents.reading.limits import ReadLimits, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from apps.documents.kinds.registry import FileKind
    from apps.documents.reading.pages import ExtractedText

CHILD_MODULE = "apps.documents.reading.child"
TICK_S = 0.5
READ_BYTES = 1 << 20
# JSON takes at most six bytes for a character (an escaped control); headings repeat some text.
MAX_BYTES_PER_CHAR = 8
MAX_OVERHEAD_BYTES = 64 << 20


def extract(
    path: Path,
    kind: FileKind,
    *,
    findings: Mapping[str, object] | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> ExtractedText:
    """Return the text of the file at `path`; `findings` is what the kind's check found.

    `on_progress` is told (pages done, pages in all) after each page, by formats with pages.
    `should_stop` is asked about twice a second.

    Raises:
        AppError: the file cannot be read (see `apps.documents.errors`), or the caller stopped it.
    """
    source = Source(path, read_limits(), findings or {})
    try:
        if kind.in_process_bytes and path.stat().st_size <= kind.in_process_bytes:
            collected = CollectedText(max_pages=source.limits.max_pages)
            for part in kind.read(source):
                collected.take(part)
            return collected.text()
        return _ChildExtraction(source, kind.reader).run(
            on_progress=on_progress, should_stop=should_stop
        )
    except FileNotFoundError as error:
        raise errors.OriginalMissingError from error
    except UnreadableError as error:
        raise errors.error_of(error.code, error.places) from error


def read_limits() -> ReadLimits:
    """Return the limits that the environment sets."""
    env = settings.ENV
    return ReadLimits(
        timeout_s=env.extraction_timeout_s,
        memory_mib=env.extraction_memory_mib,
        max_pages=env.max_pages,
        max_text_chars=env.max_text_chars,
    )


class _ChildExtraction:
    """One reading of one file in a process of its own."""

    def __init__(self, source: Source, reader: str) -> None:
        self._arguments = [
            str(source.path), reader, json.dumps(asdict(source.limits)),
            json.dumps(dict(source.findings)),
        ]  # fmt: skip
        self._limits = source.limits
        self._deadline = time.monotonic() + source.limits.timeout_s

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
                    collected.take(part_of(frame))
                    if on_progress and collected.total:
                        on_progress(len(collected.pages), collected.total)
                status = child.wait(timeout=max(TICK_S, self._deadline - time.monotonic()))
                if status == -signal.SIGXCPU:
                    raise errors.ExtractionTimeoutError
                if status:
                    raise errors.ExtractionLimitError
                return collected.text()
            except (FrameError, subprocess.TimeoutExpired) as error:
                raise errors.ExtractionLimitError from error
            finally:
                child.kill()

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
                raise errors.ExtractionStoppedError
            if time.monotonic() > self._deadline:
                raise errors.ExtractionTimeoutError
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
                raise errors.ExtractionLimitError
