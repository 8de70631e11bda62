"""How long indexing still takes, estimated from its speed so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils import timezone

from apps.documents.models import DocumentStatus, ProgressStage

if TYPE_CHECKING:
    from apps.documents.models import Document


def remaining_s(document: Document) -> float | None:
    """Return the seconds that embedding still takes, None while nothing is known.

    The stages before and after embedding are short and not counted.
    """
    if document.status != DocumentStatus.INDEXING or not document.progress_done:
        return None
    started_at = document.progress_started_at
    if document.progress_stage != ProgressStage.EMBEDDING or started_at is None:
        return None
    elapsed_s = (timezone.now() - started_at).total_seconds()
    left = max(0, document.progress_total - document.progress_done)
    return elapsed_s / document.progress_done * left
