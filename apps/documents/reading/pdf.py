"""PDF pages as clean text: pypdf first, PDFium where pypdf fails or yields nothing legible.

A page that neither engine reads is left out and named in a warning; when no page is left, the
reason is the file's. Text of annotations and form fields is not read; there is no OCR.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from apps.documents.reading.failures import (
    EXTRACTION_LIMIT,
    PDF_DAMAGED,
    PDF_TEXT_GARBLED,
    PDF_TEXT_NOT_EXTRACTABLE,
    PDF_TOO_MANY_PAGES,
    UnreadableError,
)
from apps.documents.reading.legibility import GARBLED, SUSPICIOUS, garbling
from apps.documents.reading.pages import PageText
from apps.documents.reading.pdf_engines import (
    EngineError,
    EngineLimitError,
    PdfiumEngine,
    PypdfEngine,
)
from apps.documents.reading.pdf_text import page_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from apps.documents.reading.limits import ReadLimits
    from apps.documents.reading.pdf_engines import PdfEngine

# pypdf may use this share of the time for one page, and for all; PDFium reads the others.
PYPDF_PAGE_SHARE = 0.1
PYPDF_SHARE = 0.4
END_MARK = b"%%EOF"
END_MARK_WITHIN_BYTES = 2048  # readers accept trailing bytes after the mark


@dataclass(slots=True)
class PdfReading:
    """Reads one file; iterate `pages()` once, then ask `warnings()`."""

    path: Path
    limits: ReadLimits
    page_count: int = 0
    _engines: list[PdfEngine] = field(default_factory=list)
    _chars: int = 0
    _blank: list[int] = field(default_factory=list)
    _garbled: list[int] = field(default_factory=list)
    _unreadable: list[int] = field(default_factory=list)
    _over_limit: list[int] = field(default_factory=list)

    def open(self) -> None:
        """Open the file and set `page_count`.

        Raises:
            UnreadableError: PDF_ENCRYPTED, PDF_DAMAGED or PDF_TOO_MANY_PAGES.
        """
        page_cpu_s = PYPDF_PAGE_SHARE * self.limits.timeout_s
        try:
            engine: PdfEngine = PypdfEngine(str(self.path), page_cpu_s=page_cpu_s)
        except EngineError:
            engine = self._pdfium()
        self._engines = [engine]
        self.page_count = engine.page_count
        if self.page_count > self.limits.max_pages:
            raise UnreadableError(PDF_TOO_MANY_PAGES, limit=self.limits.max_pages)
        if not self.page_count:
            raise UnreadableError(PDF_DAMAGED)

    def pages(self) -> Iterator[PageText]:
        """Yield the pages in order; those without usable text are empty.

        Raises:
            UnreadableError: EXTRACTION_LIMIT, or the reason why no page has usable text.
        """
        deadline = time.monotonic() + PYPDF_SHARE * self.limits.timeout_s
        for index in range(self.page_count):
            if time.monotonic() > deadline and isinstance(self._engines[0], PypdfEngine):
                self._engines = [self._pdfium()]
            text = self._page(index)
            self._chars += len(text)
            if self._chars > self.limits.max_text_chars:
                raise UnreadableError(EXTRACTION_LIMIT)
            yield PageText(index + 1, text)
        if not self._chars:
            raise UnreadableError(self._reason())

    def warnings(self) -> list[dict[str, object]]:
        """Return what the person should know of the pages that were left out."""
        found = [
            ("pages_without_text", self._blank),
            ("pages_garbled", self._garbled),
            ("pages_unreadable", sorted(self._unreadable + self._over_limit)),
        ]
        warnings: list[dict[str, object]] = [
            {"code": code, "pages": page_ranges(numbers)} for code, numbers in found if numbers
        ]
        if not self._has_end_mark():
            warnings.append({"code": "pdf_incomplete"})
        return warnings

    def _page(self, index: int) -> str:
        """Return the best text that an engine gives for a page, "" when there is none."""
        readings: list[tuple[float, str]] = []
        for engine in self._engines_in_turn():
            try:
                raw = engine.raw_text(index)
            except EngineLimitError:
                self._over_limit.append(index + 1)
                return ""
            except EngineError:
                continue
            readings.append((garbling(raw), page_text(raw)))
            if readings[-1][1] and readings[-1][0] < SUSPICIOUS:
                break
        return self._choose(index + 1, readings)

    def _choose(self, number: int, readings: list[tuple[float, str]]) -> str:
        """Return the least garbled text, or note why the page has none."""
        usable = [reading for reading in readings if reading[1] and reading[0] < GARBLED]
        if usable:
            return min(usable, key=lambda reading: reading[0])[1]
        if not readings:
            self._unreadable.append(number)
        elif any(score >= GARBLED for score, _text in readings):
            self._garbled.append(number)
        else:
            self._blank.append(number)
        return ""

    def _engines_in_turn(self) -> Iterator[PdfEngine]:
        """Yield the engine in use and then, only when asked for another one, PDFium."""
        yield self._engines[0]
        if not isinstance(self._engines[0], PypdfEngine):
            return
        if len(self._engines) == 1:
            try:
                self._engines.append(self._pdfium())
            except UnreadableError:
                return
        yield self._engines[1]

    def _pdfium(self) -> PdfEngine:
        try:
            return PdfiumEngine(str(self.path))
        except EngineError as error:
            raise UnreadableError(PDF_DAMAGED) from error

    def _reason(self) -> str:
        if self._over_limit:
            return EXTRACTION_LIMIT
        if self._garbled:
            return PDF_TEXT_GARBLED
        return PDF_TEXT_NOT_EXTRACTABLE if self._blank else PDF_DAMAGED

    def _has_end_mark(self) -> bool:
        with self.path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - END_MARK_WITHIN_BYTES))
            return END_MARK in file.read()


def page_ranges(numbers: list[int]) -> list[list[int]]:
    """Return ascending page numbers as ranges: [3, 4, 5, 9] becomes [[3, 5], [9, 9]]."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ranges
