"""Deletes documents for good: vectors, then the file, then the rows.

What fails leaves the document `deleting`, invisible to searches; deleting again, or the recovery,
goes on from there. Each step is satisfied by finding nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from apps.documents import originals
from apps.documents.indexing.duplicates import forget_twin
from apps.documents.models import Document, DocumentStatus, IndexJob, JobStatus
from apps.documents.vectors.access import vector_store

if TYPE_CHECKING:
    from uuid import UUID


def delete_document(document: Document) -> None:
    """Delete a document and everything made from it, also while it is being indexed.

    Raises:
        VectorStoreUnavailableError, StorageUnavailableError: not now; it stays `deleting`.
    """
    _mark(document.pk)
    finish_deletion(document)


def finish_deletion(document: Document) -> None:
    """Go on with a deletion that has begun; raises like `delete_document`."""
    store = vector_store()
    store.delete_document(document.pk)
    store.flush()
    originals.remove_original(document.stored_path)
    Document.objects.filter(pk=document.pk, status=DocumentStatus.DELETING).delete()
    forget_twin(document.pk, owner_id=document.owner_id, sha256=document.sha256)


def _mark(document_id: UUID) -> None:
    """Hide the document and take its job away from a worker that runs it."""
    with transaction.atomic():
        others = Document.objects.filter(pk=document_id).exclude(status=DocumentStatus.DELETING)
        if others.move(DocumentStatus.DELETING):
            IndexJob.objects.filter(document=document_id).update(
                status=JobStatus.FAILED, lease=None
            )
