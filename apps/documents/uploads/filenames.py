"""Names of uploads, for display only: no path is ever made from them."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import unquote

from django.utils.translation import gettext as _

from apps.core.text.graphemes import border_before
from apps.documents.errors import InvalidFilenameError, UnsupportedFileTypeError

FILENAME_MAX_CHARS = 255  # the width of Document.filename
FILE_TYPES = {".pdf": "pdf", ".md": "md", ".markdown": "md", ".txt": "txt"}
MAX_DECODING_ROUNDS = 3

_ENCODED_SEPARATOR = re.compile(r"%(?:25)*(?:2f|5c)", re.IGNORECASE)
_SEPARATORS = re.compile(r"[/\\]+")
# Controls, format characters (bidirectional, zero-width), surrogates, private and unassigned.
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
_WHITE_SPACE = re.compile(r"\s+")
_EDGE = " ."


def accepted_name(sent: str) -> tuple[str, str]:
    """Return the name to show and the type ("pdf", "md", "txt") for a name as it was sent.

    Raises:
        InvalidFilenameError: nothing is left of the name.
        UnsupportedFileTypeError: the extension is not one that can be read.
    """
    name = _visible(_base_name(_decoded(sent)))
    if not name.strip(_EDGE):
        raise InvalidFilenameError
    stem, dot, suffix = name.rstrip(_EDGE).rpartition(".")
    extension = f"{dot}{suffix}"
    file_type = FILE_TYPES.get(extension.lower())
    if not file_type:
        raise UnsupportedFileTypeError
    stem = stem.strip() or _("未命名")
    return _shortened(stem, FILENAME_MAX_CHARS - len(extension)) + extension, file_type


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
