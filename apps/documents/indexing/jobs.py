"""The states of an indexing job and of its document: each change is one conditional update.

A job moves queued -> running -> succeeded or failed, its document pending -> indexing -> indexed
or failed. Only the holder of the lease may move a running job. Nothing here calls a model or the
vector store, since a transaction holds SQLite's only write lock.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import F, Value
from django.utils import timezone

from apps.documents.errors import DocumentNotFailedError, IndexInterruptedError
from apps.documents.indexing import leases
from apps.documents.indexing.embedding_costs import EmbeddingCost
from apps.documents.models import (
    Document,
    DocumentStatus,
    IndexJob,
    JobStatus,
    ProgressStage,
)
from apps.llm.pricing.charges import least_certain

if TYPE_CHECKING:
    from collections.abc import Collection
    from uuid import UUID

    from apps.core.errors import AppError

MAX_INTERRUPTIONS = 5  # in a row; a document that ends its worker each time must not loop for ever
NO_PROGRESS = {
    "progress_stage": ProgressStage.QUEUED,
    "progress_done": 0,
    "progress_total": 0,
    "progress_started_at": None,
}
NO_ERROR: dict[str, object] = {"error_code": None, "error_places": {}}


class JobLostError(Exception):
    """The job is no longer this worker's: its document is being deleted or its lease was taken."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A running job and the lease that it runs under."""

    job_id: UUID
    document_id: UUID
    lease: UUID
    attempt: int


def claim_next(lease: UUID) -> Claim | None:
    """Take the oldest queued job, unless another worker is indexing (003 §8: one at a time)."""
    with transaction.atomic():
        if any(leases.is_alive(job) for job in IndexJob.objects.running()):
            return None
        job = IndexJob.objects.waiting().order_by("created_at", "id").first()
        if job is None:
            return None
        now = timezone.now()
        IndexJob.objects.filter(pk=job.pk).update(
            status=JobStatus.RUNNING,
            lease=lease,
            heartbeat_at=now,
            attempt_count=job.attempt_count + 1,
            started_at=now,
            finished_at=None,
            last_error=None,
        )
        Document.objects.filter(pk=job.document_id).move(
            DocumentStatus.INDEXING,
            **NO_ERROR | NO_PROGRESS | {"progress_stage": ProgressStage.EXTRACTING},
        )
    return Claim(job.pk, job.document_id, lease, job.attempt_count + 1)


def beat(claim: Claim) -> bool:
    """Show that the worker lives; False when the job is no longer its own."""
    return bool(
        IndexJob.objects.held(claim.job_id, claim.lease).update(heartbeat_at=timezone.now())
    )


def is_held(claim: Claim) -> bool:
    """Whether the job is still the worker's own."""
    return IndexJob.objects.held(claim.job_id, claim.lease).exists()


def require_held(claim: Claim) -> None:
    """Do nothing while the job is the worker's own.

    Raises:
        JobLostError: it is not.
    """
    if not is_held(claim):
        raise JobLostError


def record(claim: Claim, **values: object) -> None:
    """Write fields of the document that is being indexed, such as its progress.

    Raises:
        JobLostError: the job is no longer the worker's own.
    """
    held = IndexJob.objects.held(claim.job_id, claim.lease).values("document_id")
    changed = Document.objects.filter(pk__in=held).move(DocumentStatus.INDEXING, **values)
    if not changed:
        raise JobLostError


def add_cost(claim: Claim, cost: EmbeddingCost) -> None:
    """Add what the embedding model consumed to the job, whoever holds it now.

    A part without a price makes the whole cost unknown (NULL), an estimated one marks the whole.
    """
    if cost == EmbeddingCost():
        return
    amount = Value(None) if cost.cost_micro is None else F("cost_micro") + cost.cost_micro
    with transaction.atomic():
        job = IndexJob.objects.filter(pk=claim.job_id)
        sources = [cost.cost_source, *job.values_list("cost_source", flat=True)]
        job.update(
            embedding_tokens=F("embedding_tokens") + cost.tokens,
            cost_micro=amount,
            cost_source=least_certain(sources),
        )


def succeed(claim: Claim, *, chunk_count: int) -> None:
    """Publish the document: from now on searches find it.

    Raises:
        JobLostError: the job is no longer the worker's own.
    """
    with transaction.atomic():
        require_held(claim)
        now = timezone.now()
        IndexJob.objects.filter(pk=claim.job_id).update(
            status=JobStatus.SUCCEEDED, lease=None, finished_at=now, interruption_count=0
        )
        Document.objects.filter(pk=claim.document_id).move(
            DocumentStatus.INDEXED, chunk_count=chunk_count
        )


def fail(claim: Claim, error: AppError, *, detail: str) -> None:
    """End the job with a reason for the person; `detail` is for the log of the job.

    Raises:
        JobLostError: the job is no longer the worker's own.
    """
    with transaction.atomic():
        require_held(claim)
        _fail(claim.job_id, claim.document_id, error, detail=detail)


def _fail(job_id: UUID, document_id: UUID, error: AppError, *, detail: str) -> None:
    IndexJob.objects.filter(pk=job_id).update(
        status=JobStatus.FAILED,
        lease=None,
        finished_at=timezone.now(),
        last_error=detail,
        interruption_count=0,
    )
    Document.objects.filter(pk=document_id).move(
        DocumentStatus.FAILED,
        error_code=error.code,
        error_places=_places(error),
        **NO_PROGRESS,
    )


def _places(error: AppError) -> dict[str, object]:
    """Return what `errors.failure_text` needs beside the code, as plain JSON values."""
    places: dict[str, object] = {"class": type(error).__name__}
    for name, value in error.places.items():
        places[name] = value if isinstance(value, int | float) else str(value)
    return places


def requeue_abandoned() -> int:
    """Queue the running jobs whose worker is gone; return their number.

    A job that was interrupted too often fails instead: its document may be what ends the worker.
    """
    abandoned = 0
    with transaction.atomic():
        for job in IndexJob.objects.running().filter(document__status=DocumentStatus.INDEXING):
            if leases.is_alive(job):
                continue
            abandoned += 1
            if job.interruption_count + 1 >= MAX_INTERRUPTIONS:
                error = IndexInterruptedError()
                _fail(job.pk, job.document_id, error, detail="interrupted too often")
            else:
                _queue([job.document_id])
                IndexJob.objects.filter(pk=job.pk).update(
                    interruption_count=F("interruption_count") + 1
                )
    return abandoned


def retry(document: Document) -> None:
    """Queue the job of a failed document again.

    Raises:
        DocumentNotFailedError: the document did not fail.
    """
    with transaction.atomic():
        failed = Document.objects.filter(pk=document.pk, status=DocumentStatus.FAILED)
        if not failed.exists():
            raise DocumentNotFailedError
        _queue([document.pk])
    document.refresh_from_db()


def queue_again(document_ids: Collection[UUID], *, statuses: Collection[str]) -> int:
    """Queue the jobs of those of the documents that have one of the statuses; return how many."""
    with transaction.atomic():
        found = Document.objects.filter(pk__in=document_ids, status__in=statuses)
        ids = list(found.values_list("pk", flat=True))
        _queue(ids)
    return len(ids)


def _queue(document_ids: Collection[UUID]) -> None:
    IndexJob.objects.filter(document__in=document_ids).update(
        status=JobStatus.QUEUED, lease=None, heartbeat_at=None, started_at=None, finished_at=None
    )
    Document.objects.filter(pk__in=document_ids).move(
        DocumentStatus.PENDING, **NO_ERROR | NO_PROGRESS
    )
