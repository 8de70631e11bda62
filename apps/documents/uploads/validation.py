"""Whether an upload may be kept: its size, name, type and content. Pure: reads, stores nothing.

The content decides, not what the browser says about it. The file is read in blocks, so that an
upload of any size costs little memory. The name is for display only: no path is made from it.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from django.conf import settings
from django.utils.translation import gettext as _

from apps.core.text.graphemes import border_before
from apps.documents.errors import (
    ContentMismatchError,
    EmptyFileError,
    FileTooLargeError,
    InvalidFilenameError,
    UnsupportedFileTypeError,
    error_of,
)
from apps.documents.kinds.registry import (
    HEAD_BYTES,
    Upload,
    extensions,
    installed,
    kind_of_name,
    labels,
)
from apps.documents.reading.failures import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.core.files import File

    from apps.documents.kinds.registry import FileKind

BLOCK_BYTES = 1 << 20
MIB = 1 << 20
FILENAME_MAX_CHARS = 255  # the width of Document.filename
MAX_DECODING_ROUNDS = 3

_ENCODED_SEPARATOR = re.compile(r"%(?:25)*(?:2f|5c)", re.IGNORECASE)
_SEPARATORS = re.compile(r"[/\\]+")
# Controls, format characters (bidirectional, zero-width), surrogates, private and unassigned.
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
_WHITE_SPACE = re.compile(r"\s+")
_EDGE = " ."

# Signatures that no text begins with (each holds a control or a byte that is no ASCII), and RTF,
# whose text is markup.
_CERTAIN = (
    b"\x89PNG", b"\xff\xd8\xff", b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08", b"\x7fELF",
    b"\x1f\x8b", b"\x1f\x9d", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf\x27\x1c",
    b"Rar!\x1a\x07", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"\xca\xfe\xba\xbe", b"\xce\xfa\xed\xfe",
    b"\xcf\xfa\xed\xfe", b"\x00asm", b"SQLite format 3\x00", b"\x1a\x45\xdf\xa3", b"II*\x00",
    b"MM\x00*", b"\x00\x00\x01\x00", b"!<arch>\n", b"{\\rtf",
)  # fmt: skip
# Signatures that a text may begin with: a NUL near the start must confirm them.
_LIKELY = (
    b"MZ", b"BM", b"GIF87a", b"GIF89a", b"RIFF", b"OggS", b"fLaC", b"ID3", b"BZh", b"wOFF",
    b"OTTO",
)  # fmt: skip
_CONFIRMED_WITHIN_BYTES = 512
_BOX_TYPE = slice(4, 8)  # MP4, MOV, HEIC, AVIF
_TAR_MARK = slice(257, 262)


@dataclass(frozen=True, slots=True)
class AcceptedUpload:
    """What an upload is: the name to show, its kind, and what the kind's check found in it."""

    filename: str
    kind: FileKind
    size_bytes: int
    findings: dict[str, object]


def validate_upload(upload: File[bytes]) -> AcceptedUpload:
    """Return what the upload is; its position is at the start afterwards.

    Raises:
        AppError: FileTooLargeError, InvalidFilenameError, UnsupportedFileTypeError,
            EmptyFileError, ContentMismatchError or another that the check of its kind names.
    """
    limit_mib = settings.ENV.max_upload_mib
    if upload.size > limit_mib * MIB:
        raise FileTooLargeError(limit_mib=limit_mib)
    filename, kind = accepted_name(upload.name or "")
    if not upload.size:
        raise EmptyFileError
    findings = _checked(upload, kind)
    upload.seek(0)
    return AcceptedUpload(filename, kind, upload.size, findings)


def accepted_name(sent: str) -> tuple[str, FileKind]:
    """Return the name to show and the kind for a name as it was sent.

    Raises:
        InvalidFilenameError: nothing is left of the name.
        UnsupportedFileTypeError: the extension is not one that can be read.
    """
    name = _visible(_base_name(_decoded(sent)))
    if not name.strip(_EDGE):
        raise InvalidFilenameError
    stem, dot, suffix = name.rstrip(_EDGE).rpartition(".")
    extension = f"{dot}{suffix}"
    kind = kind_of_name(extension)
    if not kind:
        raise unsupported_type()
    stem = stem.strip() or _("未命名")
    return _shortened(stem, FILENAME_MAX_CHARS - len(extension)) + extension, kind


def unsupported_type() -> UnsupportedFileTypeError:
    """Return the refusal that names what can be read."""
    return UnsupportedFileTypeError(labels=", ".join(labels()), extensions=" ".join(extensions()))


def _checked(upload: File[bytes], kind: FileKind) -> dict[str, object]:
    """Return what the kind's check finds; raises ContentMismatchError for another format."""
    upload.seek(0)
    head = upload.read(HEAD_BYTES)
    others = tuple(mark for other in installed().values() for mark in other.marks)
    if not head.startswith(kind.marks) and (head.startswith(others) or _is_binary_format(head)):
        raise ContentMismatchError
    declared = str(getattr(upload, "content_type", None) or "")
    try:
        return kind.check(Upload(head, lambda: _blocks(upload), declared))
    except UnreadableError as error:
        raise error_of(error.code, error.places) from error


def _blocks(upload: File[bytes]) -> Iterator[bytes]:
    upload.seek(0)
    while block := upload.read(BLOCK_BYTES):
        yield block


def _is_binary_format(head: bytes) -> bool:
    """Whether `head`, the first kilobyte of a file, is that of a binary format."""
    if head.startswith(_CERTAIN) or head[_BOX_TYPE] == b"ftyp" or head[_TAR_MARK] == b"ustar":
        return True
    return head.startswith(_LIKELY) and b"\0" in head[:_CONFIRMED_WITHIN_BYTES]


def _decoded(name: str) -> str:
    """Return the name with percent-encoding resolved where it hides a path separator."""
    for _round in range(MAX_DECODING_ROUNDS):
        if not _ENCODED_SEPARATOR.search(name):
            break
        name = unquote(name)
    return name


def _base_name(name: str) -> str:
    parts = [part for part in _SEPARATORS.split(name) if part.strip(_EDGE)]
    return parts[-1] if parts else ""


def _visible(name: str) -> str:
    """Return the name in NFC, on one line and without characters that are not seen."""
    one_line = _WHITE_SPACE.sub(" ", name)
    kept = (char for char in one_line if unicodedata.category(char) not in _HIDDEN_CATEGORIES)
    return unicodedata.normalize("NFC", "".join(kept)).strip()


def _shortened(stem: str, max_chars: int) -> str:
    """Return at most `max_chars` of the stem, with an ellipsis where it was cut."""
    if len(stem) <= max_chars:
        return stem
    return stem[: border_before(stem, max_chars - 1)].rstrip() + "…"
