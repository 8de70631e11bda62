"""Plain text and Markdown: bytes become one page of clean text."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from apps.core.text.cleaning import clean_text
from apps.documents.reading.encodings import TextEncoding, decode, detect_encoding, has_visible
from apps.documents.reading.failures import EMPTY_FILE, EXTRACTION_LIMIT, UnreadableError
from apps.documents.reading.markdown import drop_embedded_data, read_markdown
from apps.documents.reading.pages import ExtractedText, PageText

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from apps.documents.reading.pages import Heading

BLOCK_BYTES = 1 << 20


def read_text(
    data: bytes,
    *,
    markdown: bool,
    max_text_chars: int,
    found: Mapping[str, object] | None = None,
) -> ExtractedText:
    """Return the text of a file as one page without a number; `found` is its TextEncoding.

    Raises:
        UnreadableError: EMPTY_FILE, CONTENT_MISMATCH, TEXT_NOT_DECODABLE or EXTRACTION_LIMIT.
    """
    encoding, decoded = _decoded(data, found)
    text = clean_text(decoded)
    warnings = _encoding_warnings(encoding)
    headings: tuple[Heading, ...] = ()
    if markdown:
        text, dropped = drop_embedded_data(text)
        if dropped:
            warnings.append({"code": "embedded_data_dropped", "count": dropped})
        text, headings = read_markdown(text)
    if not has_visible(text):
        raise UnreadableError(EMPTY_FILE)
    if len(text) > max_text_chars:
        raise UnreadableError(EXTRACTION_LIMIT)
    return ExtractedText(
        (PageText(None, text, headings),), encoding=encoding.name, warnings=tuple(warnings)
    )


def _decoded(data: bytes, found: Mapping[str, Any] | None) -> tuple[TextEncoding, str]:
    if found:
        with suppress(TypeError, UnicodeDecodeError):  # of an older version; file was exchanged
            encoding = TextEncoding(**found)
            return encoding, decode(data, encoding)
    encoding = detect_encoding(lambda: _blocks(data))
    return encoding, decode(data, encoding)


def _blocks(data: bytes) -> Iterator[bytes]:
    return (data[start : start + BLOCK_BYTES] for start in range(0, len(data), BLOCK_BYTES))


def _encoding_warnings(encoding: TextEncoding) -> list[dict[str, object]]:
    warnings: list[dict[str, object]] = []
    if encoding.guessed:
        warnings.append({"code": "encoding_guessed", "encoding": encoding.name})
    if encoding.cut_bytes:
        warnings.append({"code": "text_cut"})
    if encoding.broken_bytes:
        warnings.append({"code": "broken_bytes_dropped", "count": encoding.broken_bytes})
    if encoding.nul_bytes:
        warnings.append({"code": "nul_dropped", "count": encoding.nul_bytes})
    return warnings
