"""Which encoding a text file has, from all of its bytes, and the decoding itself.

A byte order mark and valid UTF-8 decide; then GB18030 and Big5 are scored. Nothing is chosen from
a sample, and a text that cannot be told apart is refused rather than read wrongly.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from apps.documents.reading.east_asian import best_reading
from apps.documents.reading.failures import (
    CONTENT_MISMATCH,
    EMPTY_FILE,
    TEXT_NOT_DECODABLE,
    UnreadableError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Blocks = Callable[[], Iterable[bytes]]

BYTE_ORDER_MARKS = (  # UTF-32 first: its little-endian mark begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF8, "utf-8"),
)
MAX_NUL_SHARE = 0.10
MAX_CONTROL_SHARE = 0.05
# UTF-16 of mostly ASCII text has NULs at even or at odd places, and nearly none at the others.
WIDE_NUL_SHARE = 0.25
WIDE_OTHER_NUL_SHARE = 0.02
MIN_VALID_PER_FAULT = 20  # well-formed characters that prove UTF-8 in spite of one broken byte
REPLACEMENT = "\ufffd"
BYTES_PER_SURROGATE = 3

# C0 controls that no text holds: NUL is counted apart; BS, SUB (DOS end) and ESC (colours) occur.
_CONTROLS = bytes(set(range(0x20)) - set(b"\0\x08\t\n\x0b\x0c\r\x1a\x1b")) + b"\x7f"
_SURROGATE_PAIR = re.compile(rb"\xed[\xa0-\xaf][\x80-\xbf]\xed[\xb0-\xbf][\x80-\xbf]")
_LONE_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")
_INVISIBLE = (
    "\x00-\x20\x7f-\xa0\xad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f"
    "\u3000\ufeff\ufffd-\uffff\ud800-\udfff"
)
_VISIBLE = re.compile(f"[^{_INVISIBLE}]")


@dataclass(frozen=True, slots=True)
class TextEncoding:
    """How a text file is to be decoded.

    `mark_bytes` is the length of the byte order mark, `cut_bytes` of an incomplete character at
    the end; `broken_bytes` and `nul_bytes` count what is dropped. `has_surrogates`: characters are
    written as pairs (CESU-8). `guessed`: the name is inferred.
    """

    name: str
    codec: str
    mark_bytes: int = 0
    cut_bytes: int = 0
    broken_bytes: int = 0
    has_surrogates: bool = False
    nul_bytes: int = 0
    guessed: bool = False


def detect_encoding(blocks: Blocks) -> TextEncoding:
    """Return the encoding of a text; `blocks` gives its bytes anew each time it is called.

    Raises:
        UnreadableError: EMPTY_FILE (nothing visible), CONTENT_MISMATCH (binary content) or
            TEXT_NOT_DECODABLE (unknown or ambiguous encoding).
    """
    marked = _marked(next(iter(blocks()), b""))
    if marked and marked.codec != "utf-8":
        return _strict(blocks, marked)
    nul_bytes = _count_nuls(blocks)
    utf8 = replace(marked or TextEncoding("utf-8", "utf-8"), nul_bytes=nul_bytes)
    try:
        return _strict(blocks, utf8)
    except UnreadableError as error:
        if error.code != TEXT_NOT_DECODABLE:
            raise
    return _repaired_utf8(blocks, utf8) or _scored(blocks, nul_bytes)


def decode(data: bytes, encoding: TextEncoding) -> str:
    """Return the text of `data`, whose encoding `detect_encoding` found."""
    body = data[encoding.mark_bytes : len(data) - encoding.cut_bytes]
    if not (encoding.broken_bytes or encoding.has_surrogates):
        return body.decode(encoding.codec)
    return _joined_surrogates(body).decode("utf-8", "ignore")


def has_visible(text: str) -> bool:
    """Whether there is anything to read: neither white space nor controls nor zero-width."""
    return _VISIBLE.search(text) is not None


def _marked(head: bytes) -> TextEncoding | None:
    for mark, codec in BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return TextEncoding(codec, codec, mark_bytes=len(mark))
    return None


def _count_nuls(blocks: Blocks) -> int:
    """Return the number of NUL bytes of a text without UTF-16 or UTF-32 mark.

    Raises:
        UnreadableError: TEXT_NOT_DECODABLE when NULs alternate with ASCII (UTF-16 without mark);
            CONTENT_MISMATCH when there are too many NULs or controls for a text.
    """
    size = controls = 0
    nuls = [0, 0]
    for block in blocks():
        for parity in (0, 1):
            nuls[(size + parity) % 2] += block[parity::2].count(0)
        controls += len(block) - len(block.translate(None, _CONTROLS))
        size += len(block)
    few, many = sorted(nuls)
    if 2 * many > WIDE_NUL_SHARE * size and 2 * few <= WIDE_OTHER_NUL_SHARE * size:
        raise UnreadableError(TEXT_NOT_DECODABLE)
    if sum(nuls) > MAX_NUL_SHARE * size or controls > MAX_CONTROL_SHARE * size:
        raise UnreadableError(CONTENT_MISMATCH)
    return sum(nuls)


def _strict(blocks: Blocks, encoding: TextEncoding) -> TextEncoding:
    """Return `encoding` with `cut_bytes` when all bytes decode; raise UnreadableError when not."""
    decoder = codecs.getincrementaldecoder(encoding.codec)("strict")
    visible, skip = False, encoding.mark_bytes
    try:
        for block in blocks():
            text = decoder.decode(block[skip:])
            visible, skip = visible or has_visible(text), 0
    except UnicodeDecodeError:
        raise UnreadableError(TEXT_NOT_DECODABLE) from None
    if not visible:
        raise UnreadableError(TEXT_NOT_DECODABLE if decoder.getstate()[0] else EMPTY_FILE)
    return replace(encoding, cut_bytes=len(decoder.getstate()[0]))


def _repaired_utf8(blocks: Blocks, encoding: TextEncoding) -> TextEncoding | None:
    """Return `encoding` with `broken_bytes` when the bytes are UTF-8 but for a few faults."""
    data = _joined_surrogates(b"".join(blocks())[encoding.mark_bytes :])
    whole, lone_surrogates = _LONE_SURROGATE.subn(b"", data)
    text = whole.decode("utf-8", "replace")
    broken = text.count(REPLACEMENT) - whole.count(REPLACEMENT.encode())
    valid = len(text) - broken - sum(map(str.isascii, text)) if broken else 0
    if broken and valid < MIN_VALID_PER_FAULT * broken:
        return None
    if not has_visible(text):
        return None
    return replace(
        encoding, broken_bytes=broken + BYTES_PER_SURROGATE * lone_surrogates, has_surrogates=True
    )


def _joined_surrogates(data: bytes) -> bytes:
    """Return `data` with each CESU-8 pair as the four bytes of its character."""
    return _SURROGATE_PAIR.sub(
        lambda m: m[0].decode("utf-8", "surrogatepass").encode("utf-16", "surrogatepass")
        .decode("utf-16").encode(),
        data,
    )  # fmt: skip


def _scored(blocks: Blocks, nul_bytes: int) -> TextEncoding:
    reading = best_reading(blocks())
    if reading is None:
        raise UnreadableError(TEXT_NOT_DECODABLE)
    return TextEncoding(
        reading.candidate.name,
        reading.candidate.codec,
        cut_bytes=reading.cut_bytes,
        nul_bytes=nul_bytes,
        guessed=True,
    )
