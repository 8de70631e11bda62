"""Whether an upload may be kept: its size, name, type and content. Pure: reads, stores nothing.

The content decides, not what the browser says about it. The file is read in blocks, so that an
upload of any size costs little memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings

from apps.documents.errors import (
    ContentMismatchError,
    EmptyFileError,
    FileTooLargeError,
    TextNotDecodableError,
)
from apps.documents.reading.encodings import detect_encoding
from apps.documents.reading.extract import refusal
from apps.documents.reading.failures import UnreadableError
from apps.documents.uploads.filenames import accepted_name
from apps.documents.uploads.signatures import PDF_MARK, PDF_MARK_WITHIN_BYTES, is_binary_format

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.core.files import File

    from apps.documents.reading.encodings import TextEncoding

BLOCK_BYTES = 1 << 20
MIB = 1 << 20
# What is stored and served, whatever was declared (RFC 7763 for Markdown).
MIME_TYPES = {"pdf": "application/pdf", "md": "text/markdown", "txt": "text/plain"}
# Declared types that no text has; then a text must be decodable without a guess.
CONTRADICTING_TYPES = ("image/", "audio/", "video/", "font/")


@dataclass(frozen=True, slots=True)
class AcceptedUpload:
    """What an upload is: the name to show, "pdf", "md" or "txt", and the type to serve it as."""

    filename: str
    file_type: str
    mime_type: str
    size_bytes: int


def validate_upload(upload: File[bytes]) -> AcceptedUpload:
    """Return what the upload is; its position is at the start afterwards.

    Raises:
        AppError: FileTooLargeError, InvalidFilenameError, UnsupportedFileTypeError,
            EmptyFileError, ContentMismatchError or TextNotDecodableError.
    """
    limit_mib = settings.ENV.max_upload_mib
    if upload.size > limit_mib * MIB:
        raise FileTooLargeError(limit_mib=limit_mib)
    filename, file_type = accepted_name(upload.name or "")
    if not upload.size:
        raise EmptyFileError
    upload.seek(0)
    head = upload.read(PDF_MARK_WITHIN_BYTES)
    if is_binary_format(head):
        raise ContentMismatchError
    if file_type == "pdf":
        _check_pdf(head)
    else:
        _check_text(upload, head)
    upload.seek(0)
    return AcceptedUpload(filename, file_type, MIME_TYPES[file_type], upload.size)


def _check_pdf(head: bytes) -> None:
    if PDF_MARK not in head:
        raise ContentMismatchError


def _check_text(upload: File[bytes], head: bytes) -> None:
    if head.startswith(PDF_MARK):
        raise ContentMismatchError
    try:
        encoding = detect_encoding(lambda: _blocks(upload))
    except UnreadableError as error:
        raise refusal(error) from error
    declared = str(getattr(upload, "content_type", None) or "")
    if declared.startswith(CONTRADICTING_TYPES) and _is_doubtful(encoding):
        raise TextNotDecodableError


def _is_doubtful(encoding: TextEncoding) -> bool:
    return encoding.guessed or bool(encoding.broken_bytes or encoding.nul_bytes)


def _blocks(upload: File[bytes]) -> Iterator[bytes]:
    upload.seek(0)
    while block := upload.read(BLOCK_BYTES):
        yield block
