"""The two PDF engines behind one face: open a file, count its pages, give the raw text of one.

pypdf is pure Python and is interrupted when a page takes too long; PDFium is 5 to 20 times faster
but may end the whole process on a crafted file. Neither is ever used outside the extraction child.
"""

from __future__ import annotations

import logging
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn, Protocol

from apps.documents.reading.failures import PDF_ENCRYPTED, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

PDFIUM_PASSWORD_MARKS = ("password", "security")


class EngineError(Exception):
    """The engine cannot open the file or read the page."""


class EngineLimitError(EngineError):
    """The page exceeds a limit of the engine, or memory: another one would not do better."""


class _TooSlow(BaseException):
    """Raised by the alarm inside pypdf, which catches Exception in places."""


class PdfEngine(Protocol):
    """An open PDF file."""

    page_count: int

    def raw_text(self, index: int) -> str:
        """Return the text of the page at `index`, from 0.

        Raises:
            EngineError: the page cannot be read.
        """
        ...


class PypdfEngine:
    """pypdf, with an alarm per page."""

    def __init__(self, path: str, *, page_cpu_s: float) -> None:
        """Open the file.

        Raises:
            EngineError: pypdf cannot open it.
            UnreadableError: PDF_ENCRYPTED, it needs a password.
        """
        import pypdf  # noqa: PLC0415 - 90 ms, not needed for text files

        logging.getLogger("pypdf").setLevel(logging.CRITICAL)
        self._page_cpu_s = page_cpu_s
        self._reader = self._attempt(lambda: pypdf.PdfReader(path))
        if self._reader.is_encrypted and not self._attempt(lambda: self._reader.decrypt("")):
            raise UnreadableError(PDF_ENCRYPTED)
        self.page_count = self._attempt(lambda: len(self._reader.pages))

    def raw_text(self, index: int) -> str:
        """Return the text of a page, see `PdfEngine`."""
        return self._attempt(lambda: self._reader.pages[index].extract_text())

    def _attempt[T](self, call: Callable[[], T]) -> T:
        from pypdf.errors import LimitReachedError  # noqa: PLC0415 - as above

        try:
            with _alarm(self._page_cpu_s):
                return call()
        except (LimitReachedError, MemoryError) as error:
            raise EngineLimitError from error
        except (_TooSlow, Exception) as error:  # a crafted file raises anything in pypdf
            raise EngineError from error


class PdfiumEngine:
    """PDFium through pypdfium2."""

    def __init__(self, path: str) -> None:
        """Open the file.

        Raises:
            EngineError: PDFium cannot open it.
            UnreadableError: PDF_ENCRYPTED, it needs a password.
        """
        import pypdfium2  # noqa: PLC0415 - 50 ms, needed for few files

        try:
            self._document = pypdfium2.PdfDocument(path)
        except pypdfium2.PdfiumError as error:
            if any(mark in str(error).lower() for mark in PDFIUM_PASSWORD_MARKS):
                raise UnreadableError(PDF_ENCRYPTED) from error
            raise EngineError from error
        self._error = pypdfium2.PdfiumError
        self.page_count = len(self._document)

    def raw_text(self, index: int) -> str:
        """Return the text of a page, see `PdfEngine`."""
        try:
            page = self._document[index]
        except self._error as error:
            raise EngineError from error
        try:
            text_page = page.get_textpage()
            try:
                return str(text_page.get_text_bounded())
            finally:
                text_page.close()
        except (self._error, UnicodeDecodeError) as error:
            raise EngineError from error
        finally:
            page.close()


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Raise `_TooSlow` in the block after `seconds` of CPU time."""
    previous = signal.signal(signal.SIGPROF, _raise_too_slow)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)


def _raise_too_slow(_number: int, _frame: FrameType | None) -> NoReturn:
    raise _TooSlow
