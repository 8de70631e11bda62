"""Why a file cannot be read: codes that survive the pipe; the parent turns them into AppErrors."""

from __future__ import annotations

from typing import Final

PDF_ENCRYPTED: Final = "PDF_ENCRYPTED"
PDF_DAMAGED: Final = "PDF_DAMAGED"
PDF_TEXT_NOT_EXTRACTABLE: Final = "PDF_TEXT_NOT_EXTRACTABLE"
PDF_TEXT_GARBLED: Final = "PDF_TEXT_GARBLED"
PDF_TOO_MANY_PAGES: Final = "PDF_TOO_MANY_PAGES"
EXTRACTION_LIMIT: Final = "EXTRACTION_LIMIT"
TEXT_NOT_DECODABLE: Final = "TEXT_NOT_DECODABLE"
CONTENT_MISMATCH: Final = "CONTENT_MISMATCH"
EMPTY_FILE: Final = "EMPTY_FILE"


class UnreadableError(Exception):
    """The file cannot be read; `code` is one of the above."""

    def __init__(self, code: str, **places: int | str) -> None:
        super().__init__(code)
        self.code = code
        self.places = places
