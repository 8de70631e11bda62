"""Settles what crashes left behind; every step may be repeated and may run beside a live worker.

`recover` needs only SQLite and the files and is quick. `recover_vectors` needs the vector store
and does nothing until it is ready. A job whose worker lives is never touched.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from django.db.models import Count

from apps.core.errors import AppError
from apps.documents.errors import VectorStoreLoadingError, VectorStoreUnavailableError
from apps.documents.indexing import jobs, leases
from apps.documents.indexing.deletion import finish_deletion
from apps.documents.indexing.index_definition import outdated
from apps.documents.models import Chunk, Document, DocumentStatus
from apps.documents.originals import raw_dir
from apps.documents.vectors.access import vector_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from uuid import UUID

    from apps.documents.vectors.store import VectorStore

logger = logging.getLogger(__name__)

ORPHAN_AGE_S = 600.0  # a younger file may belong to an upload that is not committed yet
STORE_FAILURES = (VectorStoreUnavailableError.code, VectorStoreLoadingError.code)

_verified_instances: set[str] = set()


def recover() -> None:
    """Queue abandoned jobs again and remove files that no document owns."""
    abandoned = jobs.requeue_abandoned()
    if abandoned:
        logger.warning("queued %d interrupted indexing jobs again", abandoned)
    leases.remove_dead_leases()
    _remove_orphan_files()


def recover_vectors() -> None:
    """Finish deletions and compare the vectors with the rows, when the vector store is ready.

    The comparison is made once for each start of the store: it is then that data may be lost.
    """
    try:
        store = vector_store()
        health = store.health()
        if health.state != "ready":
            return
        _finish_deletions()
        _retry_store_failures()
        if health.instance not in _verified_instances:
            verify_counts(store)
            _verified_instances.add(health.instance)
    except VectorStoreUnavailableError as error:
        logger.warning("the vector store is not ready (%s): vectors are settled later", error.code)


def verify_counts(store: VectorStore) -> int:
    """Compare vectors and rows per document; return how many documents are indexed again.

    Vectors of unknown documents are removed. While the index is outdated nothing is repaired:
    `manage.py reindex` makes all vectors anew.
    """
    counts = store.counts_by_document()
    known = set(Document.objects.values_list("pk", flat=True))
    _remove_orphan_vectors(store, counts.keys() - known)
    if outdated() is not None:
        return 0
    rows = _row_counts()
    damaged = [
        document.pk
        for document in Document.objects.indexed().only("chunk_count")
        if not counts.get(document.pk, 0) == rows.get(document.pk, 0) == document.chunk_count
        and not _agrees(store, document.pk)
    ]
    repaired = jobs.queue_again(damaged, statuses=[DocumentStatus.INDEXED])
    if repaired:
        logger.warning("%d documents have lost vectors and are indexed again", repaired)
    return repaired


def _agrees(store: VectorStore, document_id: UUID) -> bool:
    """Whether the counts agree now: the document may have been indexed during the comparison."""
    vectors = store.count(document_id)
    document = Document.objects.filter(pk=document_id).first()
    return document is None or vectors == document.chunks.count() == document.chunk_count


def _row_counts() -> dict[UUID, int]:
    rows = Chunk.objects.order_by().values_list("document").annotate(number=Count("pk"))
    return dict(rows.values_list("document", "number"))


def _remove_orphan_vectors(store: VectorStore, document_ids: set[UUID]) -> None:
    for document_id in document_ids:
        logger.warning("removing vectors of the unknown document %s", document_id)
        store.delete_document(document_id)
    if document_ids:
        store.flush()


def _finish_deletions() -> None:
    for document in Document.objects.filter(status=DocumentStatus.DELETING):
        try:
            finish_deletion(document)
        except AppError as error:
            logger.warning("deletion of %s is not finished: %s", document.pk, error.code)


def _retry_store_failures() -> None:
    """Queue the documents again that failed only because the vector store was away."""
    failed = Document.objects.filter(
        status=DocumentStatus.FAILED, error_code__in=STORE_FAILURES
    ).values_list("pk", flat=True)
    jobs.queue_again(list(failed), statuses=[DocumentStatus.FAILED])


def _remove_orphan_files() -> None:
    if not raw_dir().is_dir():
        return
    owned = {document.stored_name for document in Document.objects.only("id", "file_type")}
    for path in _old_files(raw_dir()):
        if path.name not in owned:
            logger.warning("removing the orphan file %s", path.name)
            path.unlink(missing_ok=True)


def _old_files(directory: Path) -> Iterator[Path]:
    youngest = time.time() - ORPHAN_AGE_S
    for path in directory.iterdir():
        try:
            if path.stat().st_mtime < youngest:
                yield path
        except FileNotFoundError:
            continue
