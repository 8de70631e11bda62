"""Runs indexing jobs: one at a time, each under a lease, and each to a recorded end."""

from __future__ import annotations

import logging
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import OperationalError, connection

from apps.core.errors import AppError
from apps.documents.indexing import jobs
from apps.documents.indexing.index_run import IndexRun
from apps.documents.indexing.jobs import JobLostError
from apps.documents.indexing.leases import held_lease

if TYPE_CHECKING:
    from collections.abc import Iterator

    from apps.documents.indexing.jobs import Claim

logger = logging.getLogger(__name__)

HEARTBEATS_PER_LEASE = 6


def run_queued_jobs() -> None:
    """Run queued jobs, oldest first, until none is left or another worker is indexing."""
    while run_next_job():
        pass


def run_next_job() -> bool:
    """Run the oldest queued job to its end; False when there was none to run."""
    with held_lease() as lease:
        claim = jobs.claim_next(lease)
        if claim is None:
            return False
        with _heartbeat(claim) as lost:
            _run_to_end(claim, lost)
    return True


def _run_to_end(claim: Claim, lost: threading.Event) -> None:
    """Run the job and record how it ended: the process boundary that catches everything."""
    run = IndexRun(claim, lost)
    try:
        try:
            run.run()
        except AppError as error:
            logger.warning("indexing %s failed: %s", claim.document_id, error.code)
            run.fail(error, detail=repr(error.__cause__ or error))
        except JobLostError:
            raise
        except Exception as error:
            logger.exception("indexing %s failed", claim.document_id)
            run.fail(AppError(), detail=type(error).__name__)
    except JobLostError:
        logger.info("indexing %s was given up", claim.document_id)
        run.take_back()


@contextmanager
def _heartbeat(claim: Claim) -> Iterator[threading.Event]:
    """Show signs of life while the block runs; yields what is set when the job is lost."""
    ended, lost = threading.Event(), threading.Event()
    thread = threading.Thread(target=_beat, args=(claim, ended, lost), daemon=True)
    thread.start()
    try:
        yield lost
    finally:
        ended.set()
        thread.join()


def _beat(claim: Claim, ended: threading.Event, lost: threading.Event) -> None:
    interval_s = settings.ENV.job_lease_s / HEARTBEATS_PER_LEASE
    while not ended.wait(interval_s):
        try:
            if not jobs.beat(claim):
                lost.set()
        except OperationalError:
            logger.warning("heartbeat of %s failed", claim.document_id, exc_info=True)
        finally:
            connection.close()
