"""Waits until documents are indexed, and does the work itself when no worker runs.

Interrupting is safe: a job whose process is gone is taken up again.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import connection

from apps.core.processes.instance_lock import take_lock
from apps.documents.indexing.run_jobs import run_queued_jobs
from apps.documents.models import Document, DocumentStatus
from apps.documents.vectors.owner import running_owner

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from uuid import UUID

WORKER_LOCK = "worker.lock"  # held by manage.py worker
POLL_INTERVAL_S = 0.25


@dataclass(frozen=True, slots=True)
class Standing:
    """How far the documents are: `done` counts them, with a part for the one being indexed."""

    total: int
    done: float
    current: str


def complete(document_ids: Collection[UUID]) -> Iterator[Standing]:
    """Yield how far the documents are, until none waits or is being indexed.

    Raises:
        VectorStoreUnavailableError: no worker runs, and the vector store cannot be started.
    """
    with nullcontext() if _worker_runs() else running_owner():
        worker = _start_worker()
        while True:
            standing = _standing(document_ids)
            yield standing
            if standing.done >= standing.total:
                return
            time.sleep(POLL_INTERVAL_S)
            if not worker.is_alive() and not _worker_runs():
                worker = _start_worker()


def _worker_runs() -> bool:
    descriptor = take_lock(settings.DATA_DIR / WORKER_LOCK)
    if descriptor is None:
        return True
    os.close(descriptor)
    return False


def _start_worker() -> threading.Thread:
    thread = threading.Thread(target=_index, name="indexing", daemon=True)
    if not _worker_runs():
        thread.start()
    return thread


def _index() -> None:
    try:
        run_queued_jobs()
    finally:
        connection.close()


def _standing(document_ids: Collection[UUID]) -> Standing:
    waiting = list(Document.objects.filter(pk__in=document_ids).unfinished())
    current = next((d for d in waiting if d.status == DocumentStatus.INDEXING), None)
    done = float(len(document_ids) - len(waiting))
    if current is not None and current.progress_total:
        done += min(0.99, current.progress_done / current.progress_total)
    return Standing(len(document_ids), done, current.filename if current else "")
