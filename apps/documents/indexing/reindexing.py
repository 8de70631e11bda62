"""Queues what `manage.py reindex` has to do; the jobs themselves rebuild the collection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.documents.indexing import jobs
from apps.documents.models import Document, DocumentStatus

if TYPE_CHECKING:
    from uuid import UUID


def queue_reindexing() -> list[UUID]:
    """Queue all indexed documents, and the failed ones that may succeed; return what waits.

    Once no document is published, the first job replaces the collection if the configuration
    changed (see `index_definition.adopt_definition`). So an interruption at any point is harmless:
    what is queued stays queued, and what failed is queued again by the next reindexing.
    """
    # What the checks of earlier versions found is not to outlive them.
    Document.objects.update(findings={})
    indexed = Document.objects.indexed().values_list("pk", flat=True)
    retryable = Document.objects.retryable().values_list("pk", flat=True)
    jobs.queue_again(
        [*indexed, *retryable], statuses=[DocumentStatus.INDEXED, DocumentStatus.FAILED]
    )
    return list(Document.objects.unfinished().values_list("pk", flat=True))
