"""Accepting uploads: stored whole and queued, or nothing at all."""

from __future__ import annotations

import hashlib
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from apps.accounts.local_user import local_user
from apps.documents import originals, tasks
from apps.documents.errors import DocumentNotFailedError, StorageUnavailableError
from apps.documents.models import Document, DocumentStatus, IndexJob, JobStatus
from apps.documents.tests.conftest import LEAVE_RULES, markdown_file
from apps.documents.uploads.accept import accept_upload, retry_document

pytestmark = pytest.mark.django_db(transaction=True)


def stored_names():
    return {path.name for path in originals.raw_dir().iterdir()}


def test_accept_upload_stores_the_file_and_queues_its_job(leave_rules):
    document = accept_upload(local_user(), leave_rules)
    content = LEAVE_RULES.encode()

    assert document.stored_path.read_bytes() == content
    assert stat.S_IMODE(document.stored_path.stat().st_mode) == 0o600
    assert document.stored_path.name == f"{document.pk}.md"
    assert Document.objects.values(
        "filename", "file_type", "mime_type", "file_size", "sha256", "status"
    ).get() == {
        "filename": "假期.md",
        "file_type": "md",
        "mime_type": "text/markdown",
        "file_size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "status": DocumentStatus.PENDING,
    }
    assert IndexJob.objects.get().status == JobStatus.QUEUED


def test_nothing_stays_on_disk_when_the_transaction_fails(leave_rules):
    owner = local_user()
    originals.raw_dir().mkdir(exist_ok=True)
    before = stored_names()
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TRIGGER refuse BEFORE INSERT ON index_jobs "
            "BEGIN SELECT RAISE(ABORT, 'no jobs today'); END"
        )
    try:
        with pytest.raises(Exception, match="no jobs today"):
            accept_upload(owner, leave_rules)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP TRIGGER refuse")

    assert (stored_names(), Document.objects.count()) == (before, 0)


def test_nothing_stays_when_the_folder_is_not_writable(leave_rules, settings, tmp_path):
    blocked = tmp_path / "raw"
    blocked.write_text("a file where the folder should be")
    settings.RAW_DIR = blocked

    with pytest.raises(StorageUnavailableError):
        accept_upload(local_user(), leave_rules)

    assert Document.objects.count() == 0


def test_ten_parallel_uploads_of_the_same_bytes_make_ten_documents():
    owner = local_user()
    originals.raw_dir().mkdir(exist_ok=True)
    before = stored_names()

    def upload(_number):
        try:
            return accept_upload(owner, markdown_file("同一份.md", LEAVE_RULES)).stored_name
        finally:
            connection.close()

    with ThreadPoolExecutor(10) as pool:
        uploaded = set(pool.map(upload, range(10)))

    documents = Document.objects.all()
    assert stored_names() - before == uploaded == {item.stored_name for item in documents}
    assert (documents.count(), IndexJob.objects.count()) == (10, 10)
    assert len({document.sha256 for document in documents}) == 1


def test_an_upload_inside_a_transaction_is_not_announced_before_its_commit(leave_rules):
    with transaction.atomic():
        document = accept_upload(local_user(), leave_rules)
        transaction.set_rollback(True)

    assert Document.objects.filter(pk=document.pk).count() == 0


def test_an_upload_is_kept_when_the_queue_cannot_be_reached(leave_rules, caplog):
    owner = local_user()
    tasks.HUEY.storage.sql("DROP TABLE task", commit=True)
    try:
        document = accept_upload(owner, leave_rules)
    finally:
        tasks.HUEY.storage.initialize_schema()

    assert IndexJob.objects.get().status == JobStatus.QUEUED
    assert document.stored_path.exists()
    assert "no such table: task" in caplog.text
    tasks.sweep.call_local()
    assert tasks.HUEY.pending_count() == 1
    tasks.HUEY.flush()


def test_retry_is_refused_unless_the_document_failed(leave_rules):
    document = accept_upload(local_user(), leave_rules)

    with pytest.raises(DocumentNotFailedError):
        retry_document(document)
