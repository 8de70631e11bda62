"""Ends a child process when its parent is gone, however the parent ended.

The parent keeps the write end of a pipe and never writes to it; the child inherits the read end
and sees its end of file when the parent's last descriptor closes, after a SIGKILL too. This works
on Linux and macOS alike. It refuses to guess from process ids, which may be reused.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser

GRACE_S = 3.0
ORPHANED_EXIT_CODE = 70


def add_parent_argument(parser: ArgumentParser) -> None:
    """Add `--parent-fd N`, the inherited read end of the parent's pipe."""
    parser.add_argument("--parent-fd", type=int, default=None, help="end when this pipe closes")


def watch_parent(descriptor: int | None, *, grace_s: float = GRACE_S) -> None:
    """Send this process a SIGTERM when the pipe closes, and end it hard `grace_s` seconds later.

    None means that the process runs alone: nothing is watched. The watcher is a daemon thread.
    """
    if descriptor is None:
        return
    threading.Thread(
        target=_end_with_parent, args=(descriptor, grace_s), name="parent-watch", daemon=True
    ).start()


def _end_with_parent(descriptor: int, grace_s: float) -> None:
    while os.read(descriptor, 64):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(grace_s)
    os._exit(ORPHANED_EXIT_CODE)
