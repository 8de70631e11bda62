"""Original files in the raw folder: written whole or not at all, under names of our own."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

from apps.documents.errors import StorageUnavailableError

if TYPE_CHECKING:
    from django.core.files import File

PART_SUFFIX = ".part"


def store_original(upload: File[bytes], path: Path) -> str:
    """Write the upload to `path` (mode 0600) and return its SHA-256; it survives a power cut.

    Raises:
        StorageUnavailableError: the disk is full or not writable; nothing is left behind.
    """
    part = path.with_name(path.name + PART_SUFFIX)
    try:
        raw_dir().mkdir(mode=0o700, parents=True, exist_ok=True)
        digest = _write(upload, part)
        part.replace(path)
        _sync_directory(path.parent)
    except OSError as error:
        with suppress(OSError):  # the sweep removes what cannot be removed now
            part.unlink()
        raise StorageUnavailableError from error
    return digest


def remove_original(path: Path) -> None:
    """Remove the file; one that is gone already is fine.

    Raises:
        StorageUnavailableError: the folder is not writable.
    """
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise StorageUnavailableError from error


def raw_dir() -> Path:
    """Return the folder of the originals (003: data/raw)."""
    return Path(settings.RAW_DIR)


def _write(upload: File[bytes], part: Path) -> str:
    digest = hashlib.sha256()
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        for block in upload.chunks():
            digest.update(block)
            file.write(block)
        file.flush()
        os.fsync(file.fileno())
    return digest.hexdigest()


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
