"""Proof that the worker of a job is alive: a locked file, and a heartbeat in the job's row.

The kernel frees the lock however its process ends, so a job of a killed worker is known to be
abandoned at once. The heartbeat covers a worker that lives but hangs. Nothing here changes a row.
"""

from __future__ import annotations

import fcntl
import os
import uuid
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils import timezone

if TYPE_CHECKING:
    from collections.abc import Iterator

    from apps.documents.models import IndexJob

LEASE_DIR = "leases"


def lease_dir() -> Path:
    """Return the folder of the lock files."""
    return Path(settings.DATA_DIR) / LEASE_DIR


@contextmanager
def held_lease() -> Iterator[uuid.UUID]:
    """Hold a new lease while the block runs; yields its id."""
    lease = uuid.uuid4()
    lease_dir().mkdir(mode=0o700, exist_ok=True)
    path = _path(lease)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield lease
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def is_alive(job: IndexJob) -> bool:
    """Whether the holder of the job's lease still works on it."""
    if job.lease is None or job.heartbeat_at is None:
        return False
    if timezone.now() - job.heartbeat_at > timedelta(seconds=settings.ENV.job_lease_s):
        return False
    return _is_locked(_path(job.lease))


def remove_dead_leases() -> None:
    """Remove the lock files of processes that ended without removing them."""
    if not lease_dir().is_dir():
        return
    for path in lease_dir().iterdir():
        if not _is_locked(path):
            path.unlink(missing_ok=True)


def _path(lease: uuid.UUID) -> Path:
    return lease_dir() / str(lease)


def _is_locked(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(descriptor)
