"""A kind of file that the product does not know: lines of `name=value` below a mark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.documents.kinds.registry import FileKind
from apps.documents.reading.failures import CONTENT_MISMATCH, UnreadableError
from apps.documents.reading.pages import Ending, PageCount, PageText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from apps.documents.kinds.registry import Upload
    from apps.documents.reading.limits import Source
    from apps.documents.reading.pages import Part

MARK = b"PK\x03\x04sheet"  # begins like an archive, as many kinds do


def check(upload: Upload) -> dict[str, object]:
    if not upload.head.startswith(MARK):
        raise UnreadableError(CONTENT_MISMATCH)
    return {"separator": "="}


def read(source: Source) -> Iterator[Part]:
    lines = source.path.read_bytes().removeprefix(MARK).decode().strip().splitlines()
    yield PageCount(len(lines))
    for number, line in enumerate(lines, 1):
        yield PageText(number, line.replace(str(source.findings["separator"]), " is "))
    yield Ending()


SHEET = FileKind(
    code="sheet",
    label="Sheet",
    extensions=(".sheet",),
    mime_type="application/x-sheet",
    check=check,
    read=read,
    marks=(MARK,),
)
