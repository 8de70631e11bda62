"""Locks that live as long as a process: one server for a data folder, one worker for a queue.

An advisory `flock` belongs to the open file, so that the kernel frees it however its holder ends,
and a descriptor that children inherit keeps it until the last of them is gone. It refuses to trust
files with process ids in them.
"""

from __future__ import annotations

import fcntl
import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

POLL_S = 0.05


def take_lock(path: Path, *, wait_s: float = 0) -> int | None:
    """Return the descriptor that holds the lock; None when another process keeps it `wait_s`."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    deadline = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                os.close(descriptor)
                return None
            time.sleep(POLL_S)
        else:
            return descriptor
