"""A file whose modification time tells that a process is alive; its content means nothing."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

INTERVAL_S = 2.0


def start_heartbeat(path: Path) -> None:
    """Touch `path` now and every `INTERVAL_S` seconds, from a daemon thread."""
    path.touch()
    threading.Thread(target=_beat, args=(path,), name="heartbeat", daemon=True).start()


def heartbeat_age_s(path: Path) -> float | None:
    """Return the seconds since the last beat, or None when there never was one."""
    try:
        return max(0.0, time.time() - path.stat().st_mtime)
    except FileNotFoundError:
        return None


def _beat(path: Path) -> None:
    while True:
        time.sleep(INTERVAL_S)
        path.touch()
