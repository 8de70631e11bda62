"""Keeps a damaged task queue from stopping the server; the rows of the jobs are the truth."""

from __future__ import annotations

import logging
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

logger = logging.getLogger(__name__)


def set_damaged_queue_aside(path: Path) -> None:
    """Rename a queue that SQLite cannot read, so that Huey makes a new one in its place."""
    if not path.exists() or _is_readable(path):
        return
    logger.warning("the task queue %s is damaged and set aside", path.name)
    path.replace(path.with_name(f"{path.name}.damaged"))
    for ending in ("-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)


def _is_readable(path: Path) -> bool:
    try:
        with closing(sqlite3.connect(path)) as database:
            return database.execute("PRAGMA quick_check").fetchall() == [("ok",)]
    except sqlite3.OperationalError:  # busy, say: nothing is known against it
        return True
    except sqlite3.DatabaseError:
        return False
