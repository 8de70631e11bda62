"""Accepts uploads: once accepted, a document is either indexed or says why not."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from django.db import transaction

from apps.documents import originals
from apps.documents.indexing import jobs
from apps.documents.indexing.duplicates import twin_warnings
from apps.documents.models import Document, DocumentStatus, IndexJob
from apps.documents.tasks import index_documents
from apps.documents.uploads.validation import validate_upload

if TYPE_CHECKING:
    from django.core.files import File

    from apps.accounts.models import User


def accept_upload(owner: User, upload: File[bytes]) -> Document:
    """Store the file, queue its indexing and return the new document.

    Raises:
        AppError: the file is refused, see `validation`; or cannot be stored. Nothing is kept then.
    """
    accepted = validate_upload(upload)
    document = Document(
        id=uuid.uuid4(),
        owner=owner,
        filename=accepted.filename,
        file_type=accepted.kind.code,
        mime_type=accepted.kind.mime_type,
        file_size=accepted.size_bytes,
        findings=accepted.findings,
    )
    document.sha256 = originals.store_original(upload, document.stored_path)
    try:
        with transaction.atomic():
            document.warnings = twin_warnings(document)
            document.save(force_insert=True)
            IndexJob.objects.create(document=document)
            _start_indexing_on_commit()
    except BaseException:
        originals.remove_original(document.stored_path)
        raise
    return document


def retry_document(document: Document) -> None:
    """Index a failed document again; it is pending afterwards.

    Raises:
        DocumentNotFailedError: it did not fail.
    """
    with transaction.atomic():
        jobs.retry(document)
        _start_indexing_on_commit()


def retry_failed_documents(owner: User) -> int:
    """Index a person's failed documents again; return how many.

    Those whose file is itself at fault stay failed: only another file helps.
    """
    with transaction.atomic():
        ids = list(Document.objects.of(owner).retryable().values_list("pk", flat=True))
        queued = jobs.queue_again(ids, statuses=[DocumentStatus.FAILED])
        if queued:
            _start_indexing_on_commit()
    return queued


def _start_indexing_on_commit() -> None:
    # Robust: the sweep finds the job if the queue's file is unavailable now.
    transaction.on_commit(_start_indexing, robust=True)


def _start_indexing() -> None:
    index_documents()
