"""The one way to a file's text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings

from apps.documents import errors
from apps.documents.reading.child_process import ChildExtraction
from apps.documents.reading.failures import UnreadableError
from apps.documents.reading.limits import ReadLimits
from apps.documents.reading.text import read_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from apps.core.errors import AppError
    from apps.documents.reading.pages import ExtractedText

# Text files up to this size are read in this process: the worst Markdown takes about a second.
IN_PROCESS_MAX_BYTES = 64 * 1024
PDF_TYPE = "pdf"
MARKDOWN_TYPE = "md"

_ERRORS: dict[str, type[AppError]] = {
    error.code: error
    for error in (
        errors.PdfEncryptedError,
        errors.PdfDamagedError,
        errors.PdfTextNotExtractableError,
        errors.PdfTextGarbledError,
        errors.PdfTooManyPagesError,
        errors.ExtractionLimitError,
        errors.TextNotDecodableError,
        errors.ContentMismatchError,
        errors.EmptyFileError,
    )
}


def extract(
    path: Path,
    file_type: str,
    *,
    on_progress: Callable[[int, int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> ExtractedText:
    """Return the text of the file at `path`, whose type is "pdf", "md" or "txt".

    `on_progress` is told (pages done, pages in all) after each page of a PDF. `should_stop` is
    asked about twice a second.

    Raises:
        AppError: the file cannot be read (see `apps.documents.errors`), or the caller stopped it.
    """
    limits = read_limits()
    try:
        if file_type != PDF_TYPE and path.stat().st_size <= IN_PROCESS_MAX_BYTES:
            return read_text(
                path.read_bytes(),
                markdown=file_type == MARKDOWN_TYPE,
                max_text_chars=limits.max_text_chars,
            )
        return ChildExtraction(path, file_type, limits).run(
            on_progress=on_progress, should_stop=should_stop
        )
    except FileNotFoundError as error:
        raise errors.OriginalMissingError from error
    except UnreadableError as error:
        raise refusal(error) from error


def refusal(error: UnreadableError) -> AppError:
    """Return the error for the person that tells why the file cannot be read."""
    return _ERRORS.get(error.code, errors.ExtractionLimitError)(**error.places)


def read_limits() -> ReadLimits:
    """Return the limits that the environment sets."""
    env = settings.ENV
    return ReadLimits(
        timeout_s=env.extraction_timeout_s,
        memory_mib=env.extraction_memory_mib,
        max_pages=env.max_pages,
        max_text_chars=env.max_text_chars,
    )
