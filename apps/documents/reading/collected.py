"""Puts the child's frames together, refusing those that are not of the agreed shape."""

from __future__ import annotations

from dataclasses import dataclass, field

from apps.documents.reading.failures import UnreadableError
from apps.documents.reading.frames import FrameError
from apps.documents.reading.pages import ExtractedText, Heading, PageText


@dataclass(slots=True)
class CollectedText:
    """The text as far as it has come. `total` is the number of pages, 0 for formats without."""

    max_pages: int
    pages: list[PageText] = field(default_factory=list)
    total: int = 0
    is_complete: bool = False
    _encoding: str = ""
    _warnings: tuple[dict[str, object], ...] = ()

    def take(self, frame: dict[str, object]) -> None:
        """Take one frame.

        Raises:
            UnreadableError: the child tells why the file cannot be read.
            FrameError: the frame is not of the agreed shape.
        """
        match frame:
            case {"total": int(total)}:
                self.total = total
            case {"page": int() | None as number, "text": str(text), "headings": list(headings)}:
                self._take_page(PageText(number, text, tuple(map(_heading, headings))))
            case {"done": str(encoding), "warnings": list(warnings)}:
                self._encoding, self._warnings = encoding, tuple(warnings)
                self.is_complete = True
            case {"failed": str(code), "places": dict(places)}:
                raise UnreadableError(code, **places)
            case _:
                raise FrameError

    def text(self) -> ExtractedText:
        """Return the whole text."""
        return ExtractedText(
            pages=tuple(self.pages),
            page_count=self.total or None,
            encoding=self._encoding,
            warnings=self._warnings,
        )

    def _take_page(self, page: PageText) -> None:
        if len(self.pages) >= self.max_pages:
            raise FrameError
        self.pages.append(page)


def _heading(values: object) -> Heading:
    match values:
        case [int(offset), int(level), str(title)]:
            return Heading(offset, level, title)
    raise FrameError
