"""Extracted text: what extraction hands to splitting. Plain values that survive a pipe."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a Markdown text: `offset` is the index of its first character in the page."""

    offset: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class PageText:
    """The text of one page; `number` counts from 1 and is None for formats without pages."""

    number: int | None
    text: str
    headings: tuple[Heading, ...] = ()


@dataclass(frozen=True, slots=True)
class PageCount:
    """How many pages will come; told first, by formats with pages."""

    total: int


@dataclass(frozen=True, slots=True)
class Ending:
    """That all has come; see `ExtractedText`."""

    encoding: str = ""
    warnings: tuple[dict[str, object], ...] = ()


type Part = PageCount | PageText | Ending


@dataclass(frozen=True, slots=True)
class ExtractedText:
    """All text of a document.

    `page_count` is None for formats without pages. `encoding` names how a text file was decoded.
    `warnings` are codes with figures for the person, see `apps.documents.warnings`.
    """

    pages: tuple[PageText, ...]
    page_count: int | None = None
    encoding: str = ""
    warnings: tuple[dict[str, object], ...] = field(default=())

    def parts(self) -> Iterator[Part]:
        """Yield the text as a reader gives it."""
        if self.page_count is not None:
            yield PageCount(self.page_count)
        yield from self.pages
        yield Ending(self.encoding, self.warnings)
