"""The parts of a text between the extraction child and its parent: a length, then so much JSON.

The parent trusts nothing: what is not of the agreed shape and size is refused.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

from apps.documents.reading.failures import UnreadableError
from apps.documents.reading.pages import Ending, ExtractedText, Heading, PageCount, PageText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from apps.documents.reading.pages import Part

_LENGTH = struct.Struct(">I")


class FrameError(Exception):
    """The bytes are no frames, or more than allowed."""


def write_part(stream: BinaryIO, part: Part | UnreadableError) -> None:
    """Write one part, or why there is none, as a frame and flush it."""
    match part:
        case PageCount(total):
            write_frame(stream, {"total": total})
        case PageText(number, text, headings):
            rows = [[heading.offset, heading.level, heading.title] for heading in headings]
            write_frame(stream, {"page": number, "text": text, "headings": rows})
        case Ending(encoding, warnings):
            write_frame(stream, {"done": encoding, "warnings": list(warnings)})
        case UnreadableError():
            write_frame(stream, {"failed": part.code, "places": part.places})


def part_of(frame: dict[str, object]) -> Part:
    """Return the part that a frame holds.

    Raises:
        UnreadableError: the child tells why the file cannot be read.
        FrameError: the frame is not of the agreed shape.
    """
    match frame:
        case {"total": int(total)}:
            return PageCount(total)
        case {"page": int() | None as number, "text": str(text), "headings": list(headings)}:
            return PageText(number, text, tuple(map(_heading, headings)))
        case {"done": str(encoding), "warnings": list(warnings)}:
            return Ending(encoding, tuple(warnings))
        case {"failed": str(code), "places": dict(places)}:
            raise UnreadableError(code, **places)
    raise FrameError


@dataclass(slots=True)
class CollectedText:
    """The text as far as it has come. `total` is the number of pages, 0 for formats without."""

    max_pages: int
    pages: list[PageText] = field(default_factory=list)
    total: int = 0
    _ending: Ending | None = None

    def take(self, part: Part) -> None:
        """Take one part; raises FrameError for more pages than allowed."""
        match part:
            case PageCount(total):
                self.total = total
            case PageText():
                if len(self.pages) >= self.max_pages:
                    raise FrameError
                self.pages.append(part)
            case Ending():
                self._ending = part

    def text(self) -> ExtractedText:
        """Return the whole text; raises FrameError when its end has not come."""
        if self._ending is None:
            raise FrameError
        ending = self._ending
        return ExtractedText(
            tuple(self.pages), self.total or None, ending.encoding, ending.warnings
        )


def write_frame(stream: BinaryIO, content: dict[str, object]) -> None:
    """Write one frame and flush it."""
    body = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    stream.write(_LENGTH.pack(len(body)) + body)
    stream.flush()


class FrameReader:
    """Takes bytes as they come and gives the frames that are whole."""

    def __init__(self, *, max_bytes: int) -> None:
        self._buffer = bytearray()
        self._bytes_left = max_bytes

    def feed(self, data: bytes) -> Iterator[dict[str, object]]:
        """Yield the frames that `data` completes.

        Raises:
            FrameError: more than `max_bytes` came in all, or a frame is no JSON object.
        """
        self._bytes_left -= len(data)
        if self._bytes_left < 0:
            raise FrameError
        self._buffer += data
        while len(self._buffer) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._buffer)
            end = _LENGTH.size + length
            if len(self._buffer) < end:
                return
            yield _parsed(bytes(self._buffer[_LENGTH.size : end]))
            del self._buffer[:end]


def _parsed(body: bytes) -> dict[str, object]:
    try:
        content = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise FrameError from error
    if not isinstance(content, dict):
        raise FrameError
    return content


def _heading(values: object) -> Heading:
    match values:
        case [int(offset), int(level), str(title)]:
            return Heading(offset, level, title)
    raise FrameError
