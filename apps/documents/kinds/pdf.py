"""PDF: known by its mark, read page by page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.documents.kinds.registry import FileKind
from apps.documents.reading.failures import CONTENT_MISMATCH, UnreadableError
from apps.documents.reading.pages import Ending, PageCount

if TYPE_CHECKING:
    from collections.abc import Iterator

    from apps.documents.kinds.registry import Upload
    from apps.documents.reading.limits import Source
    from apps.documents.reading.pages import Part

MARK = b"%PDF"  # ISO 32000-1, implementation note 13: somewhere within the first 1024 bytes


def check(upload: Upload) -> dict[str, object]:
    """Refuse a file without the mark."""
    if MARK not in upload.head:
        raise UnreadableError(CONTENT_MISMATCH)
    return {}


def read(source: Source) -> Iterator[Part]:
    """Yield the pages; raises UnreadableError when none has text."""
    from apps.documents.reading.pdf import PdfReading  # noqa: PLC0415 - slow, for the child only

    reading = PdfReading(source.path, source.limits)
    reading.open()
    yield PageCount(reading.page_count)
    yield from reading.pages()
    yield Ending(warnings=tuple(reading.warnings()))


KIND = FileKind(
    code="pdf",
    label="PDF",
    extensions=(".pdf",),
    mime_type="application/pdf",
    check=check,
    read=read,
    marks=(MARK,),
    rank=1,
)
