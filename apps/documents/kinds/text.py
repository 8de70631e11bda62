"""Plain text: whatever decodes, in one page without a number."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from apps.documents.kinds.registry import FileKind
from apps.documents.reading.encodings import detect_encoding
from apps.documents.reading.failures import TEXT_NOT_DECODABLE, UnreadableError
from apps.documents.reading.text import read_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from apps.documents.kinds.registry import Upload
    from apps.documents.reading.limits import Source
    from apps.documents.reading.pages import Part

# Declared types that no text has; then a text must be decodable without a guess.
CONTRADICTING_TYPES = ("image/", "audio/", "video/", "font/")
# Read without a child up to this size: the worst Markdown takes about a second.
IN_PROCESS_BYTES = 64 * 1024


def check(upload: Upload) -> dict[str, object]:
    """Return the encoding's facts, so that the text is not searched for them a second time."""
    encoding = detect_encoding(upload.blocks)
    doubtful = encoding.guessed or encoding.broken_bytes or encoding.nul_bytes
    if doubtful and upload.declared_type.startswith(CONTRADICTING_TYPES):
        raise UnreadableError(TEXT_NOT_DECODABLE)
    return asdict(encoding)


def read(source: Source) -> Iterator[Part]:
    """Yield the text; raises UnreadableError when it has none or too much."""
    return parts(source, markdown=False)


def parts(source: Source, *, markdown: bool) -> Iterator[Part]:
    """Yield the text, in Markdown with its headings; raises UnreadableError as `read` does."""
    yield from read_text(
        source.path.read_bytes(),
        markdown=markdown,
        max_text_chars=source.limits.max_text_chars,
        found=source.findings,
    ).parts()


KIND = FileKind(
    code="txt",
    label="TXT",
    extensions=(".txt",),
    mime_type="text/plain",
    check=check,
    read=read,
    in_process_bytes=IN_PROCESS_BYTES,
    rank=3,
)
