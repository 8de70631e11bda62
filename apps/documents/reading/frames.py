"""Frames between the extraction child and its parent: a length, then that many bytes of JSON."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator

_LENGTH = struct.Struct(">I")


class FrameError(Exception):
    """The bytes are no frames, or more than allowed."""


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
