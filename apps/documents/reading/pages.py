"""Extracted text: what extraction hands to splitting. Plain values that survive a pipe."""

from __future__ import annotations

from dataclasses import dataclass, field


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
class ExtractedText:
    """All text of a document.

    `page_count` is None for formats without pages. `encoding` names how a text file was decoded.
    `warnings` are codes with figures for the person, see `apps.documents.warnings`.
    """

    pages: tuple[PageText, ...]
    page_count: int | None = None
    encoding: str = ""
    warnings: tuple[dict[str, object], ...] = field(default=())
