"""The extraction child is bounded in time and memory, can be stopped, and outlives nobody.

A file that never opens (a FIFO without a writer) stands for an engine that hangs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import psutil
import pytest
from django.conf import settings as django_settings

from apps.documents import errors
from apps.documents.kinds.registry import installed
from apps.documents.reading.child import PARENT_GONE
from apps.documents.reading.extract import extract, read_limits
from apps.documents.reading.failures import PDF_DAMAGED, UnreadableError
from apps.documents.reading.frames import (
    CollectedText,
    FrameError,
    FrameReader,
    part_of,
    write_frame,
)
from apps.documents.reading.pages import ExtractedText, Heading, PageText
from apps.documents.reading.text import read_text

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_django.fixtures import SettingsWrapper


@pytest.fixture
def hanging_file(tmp_path: Path) -> Path:
    path = tmp_path / "original"
    os.mkfifo(path)
    return path


def children() -> list[psutil.Process]:
    return psutil.Process().children()


def test_markdown_is_the_same_in_the_child_and_in_this_process(tmp_path: Path) -> None:
    content = "# 年假\n\n员工每年享有十五天带薪年假。\n\n".encode("gb18030") * 2000
    assert len(content) > installed()["md"].in_process_bytes
    path = tmp_path / "original"
    path.write_bytes(content)
    text = extract(path, installed()["md"])
    assert text == read_text(content, markdown=True, max_text_chars=1_000_000)
    assert text.encoding == "gb18030"
    assert len(text.pages[0].headings) == 2000


def test_reading_that_hangs_is_ended_at_the_time_limit(
    hanging_file: Path, settings: SettingsWrapper
) -> None:
    settings.ENV = settings.ENV.model_copy(update={"extraction_timeout_s": 0.2})
    before = children()
    with pytest.raises(errors.ExtractionTimeoutError):
        extract(hanging_file, installed()["pdf"])
    assert children() == before


def test_reading_ends_when_the_caller_stops_it(hanging_file: Path) -> None:
    before = children()
    with pytest.raises(errors.ExtractionStoppedError):
        extract(hanging_file, installed()["pdf"], should_stop=lambda: True)
    assert children() == before


def test_child_ends_when_its_parent_dies(hanging_file: Path) -> None:
    limits = json.dumps(asdict(read_limits()))
    child = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "apps.documents.reading.child",
            str(hanging_file),
            installed()["pdf"].reader,
            limits,
            "{}",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=django_settings.BASE_DIR,
    )
    with child:
        child.stdin.close()
        assert child.wait(timeout=30) == PARENT_GONE


def test_reading_over_the_memory_limit_fails(tmp_path: Path, settings: SettingsWrapper) -> None:
    settings.ENV = settings.ENV.model_copy(update={"extraction_memory_mib": 128})
    path = tmp_path / "original"
    path.write_bytes("员工每年享有十五天带薪年假。\n".encode() * 1_500_000)
    with pytest.raises(errors.ExtractionLimitError):
        extract(path, installed()["txt"])


def test_child_sees_none_of_our_configuration(settings: SettingsWrapper) -> None:
    names = settings.ENV.bare_environment()
    assert [name for name in names if name.startswith(("KBQA_", "LANGSMITH_", "DJANGO_"))] == []


def test_missing_original_is_named(tmp_path: Path) -> None:
    for file_type in ("pdf", "txt"):
        with pytest.raises(errors.AppError):
            extract(tmp_path / "gone", installed()[file_type])


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"", errors.EmptyFileError),
        (bytes(range(256)), errors.ContentMismatchError),
        ("déjà vu, garçon".encode("cp1252"), errors.TextNotDecodableError),
    ],
)
def test_unreadable_text_is_refused(
    tmp_path: Path, content: bytes, error: type[errors.AppError]
) -> None:
    path = tmp_path / "original"
    path.write_bytes(content)
    with pytest.raises(error):
        extract(path, installed()["txt"])


class Pipe(bytearray):
    """Stands where a binary stream is written to."""

    def write(self, data: bytes) -> None:
        self.extend(data)

    def flush(self) -> None:
        """Nothing is held back."""


def test_frames_survive_any_cut() -> None:
    pipe = Pipe()
    frames: list[dict[str, object]] = [{"text": "年假😀"}, {}, {"page": 1}]
    for frame in frames:
        write_frame(pipe, frame)
    reader = FrameReader(max_bytes=1000)
    assert [f for byte in pipe for f in reader.feed(bytes([byte]))] == frames


@pytest.mark.parametrize("data", [b"\0\0\0\x02{]", b"\0\0\0\x02[]", b"\0\0\0\x01\xff", b"x" * 101])
def test_bytes_that_are_no_frames_are_refused(data: bytes) -> None:
    with pytest.raises(FrameError):
        list(FrameReader(max_bytes=100).feed(data))


def test_frames_become_the_text() -> None:
    collected = CollectedText(max_pages=5)
    collected.take(part_of({"total": 1}))
    collected.take(part_of({"page": 1, "text": "# a", "headings": [[0, 1, "a"]]}))
    with pytest.raises(FrameError):
        collected.text()
    collected.take(part_of({"done": "", "warnings": [{"code": "pdf_incomplete"}]}))
    assert collected.text() == ExtractedText(
        (PageText(1, "# a", (Heading(0, 1, "a"),)),),
        page_count=1,
        warnings=({"code": "pdf_incomplete"},),
    )


@pytest.mark.parametrize(
    "frame",
    [
        {},
        {"page": "1", "text": "", "headings": []},
        {"page": 1, "text": None, "headings": []},
        {"page": 1, "text": "", "headings": [["0", 1, ""]]},
        {"done": 1, "warnings": []},
        {"total": "1"},
    ],
)
def test_frame_of_another_shape_is_refused(frame: dict[str, object]) -> None:
    with pytest.raises(FrameError):
        part_of(frame)


def test_more_pages_than_allowed_are_refused() -> None:
    collected = CollectedText(max_pages=1)
    page = PageText(1, "")
    collected.take(page)
    with pytest.raises(FrameError):
        collected.take(page)


def test_failure_frame_is_raised_with_its_places() -> None:
    with pytest.raises(UnreadableError) as caught:
        part_of({"failed": PDF_DAMAGED, "places": {"limit": 5}})
    assert (caught.value.code, caught.value.places) == (PDF_DAMAGED, {"limit": 5})
