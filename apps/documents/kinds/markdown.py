"""Markdown: a text whose headings are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.documents.kinds import text
from apps.documents.kinds.registry import FileKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from apps.documents.reading.limits import Source
    from apps.documents.reading.pages import Part


def read(source: Source) -> Iterator[Part]:
    """Yield the text with its headings; raises UnreadableError when it has none or too much."""
    return text.parts(source, markdown=True)


KIND = FileKind(
    code="md",
    label="Markdown",
    extensions=(".md", ".markdown"),
    mime_type="text/markdown",  # RFC 7763
    check=text.check,
    read=read,
    in_process_bytes=text.IN_PROCESS_BYTES,
    rank=2,
)
