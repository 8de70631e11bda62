"""What the recovery settles, and what it must leave alone."""

from __future__ import annotations

import os
import time
import uuid

import pytest

from apps.accounts.local_user import local_user
from apps.documents import originals, tasks
from apps.documents.indexing import jobs, leases, recovery, run_jobs
from apps.documents.models import Document, DocumentStatus, IndexJob, JobStatus
from apps.documents.tests.conftest import index, text_file
from apps.documents.uploads.accept import accept_upload
from apps.documents.vectors.access import vector_store
from apps.documents.vectors.records import VectorRecord, user_scope

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _empty_store(vector_server):
    """Vectors of documents that other tests left are orphans here."""
    for document_id in vector_store().counts_by_document():
        vector_store().delete_document(document_id)
    recovery._verified_instances.clear()


def vector_of(document_id):
    return VectorRecord(uuid.uuid4(), document_id, user_scope(uuid.uuid4()), 0, [1.0] * 384)


def aged(path):
    old = time.time() - recovery.ORPHAN_AGE_S - 1
    os.utime(path, (old, old))
    return path


def test_recover_queues_the_job_of_a_worker_that_is_gone(leave_rules):
    document = accept_upload(local_user(), leave_rules)
    with run_jobs.held_lease() as lease:
        jobs.claim_next(lease)
        recovery.recover()
        assert IndexJob.objects.get().status == JobStatus.RUNNING

    recovery.recover()

    document.refresh_from_db()
    assert (IndexJob.objects.get().status, document.status) == (
        JobStatus.QUEUED,
        DocumentStatus.PENDING,
    )


def test_recover_removes_old_files_without_a_document_and_no_others(leave_rules):
    document = accept_upload(local_user(), leave_rules)
    aged(document.stored_path)
    folder = originals.raw_dir()
    orphan, part, young = (
        folder / f"{uuid.uuid4()}.txt",
        folder / f"{uuid.uuid4()}.md.part",
        folder / f"{uuid.uuid4()}.pdf",
    )
    for path in (orphan, part, young):
        path.write_text("x")
    for path in (orphan, part):
        aged(path)

    recovery.recover()

    assert [path.exists() for path in (document.stored_path, orphan, part, young)] == [
        True,
        False,
        False,
        True,
    ]
    young.unlink()


def test_recover_removes_lock_files_of_dead_workers_only():
    with run_jobs.held_lease() as lease:
        dead = leases.lease_dir() / str(uuid.uuid4())
        dead.touch()
        aged(dead)

        recovery.recover()

        assert (leases.lease_dir() / str(lease)).exists()
        assert not dead.exists()


def test_recover_vectors_finishes_deletions(indexed):
    Document.objects.update(status=DocumentStatus.DELETING)

    recovery.recover_vectors()

    assert Document.objects.count() == 0
    assert not indexed.stored_path.exists()
    assert vector_store().counts_by_document() == {}


def test_recover_vectors_removes_vectors_of_unknown_documents(indexed):
    vector_store().upsert([vector_of(uuid.uuid4())])

    recovery.recover_vectors()

    assert vector_store().counts_by_document() == {indexed.pk: indexed.chunk_count}


def test_recover_vectors_indexes_documents_again_that_lost_vectors(indexed):
    ids = set(indexed.chunks.values_list("pk", flat=True))
    vector_store().delete_document(indexed.pk)

    recovery.recover_vectors()
    indexed.refresh_from_db()
    assert indexed.status == DocumentStatus.PENDING
    run_jobs.run_queued_jobs()
    indexed.refresh_from_db()

    assert indexed.status == DocumentStatus.INDEXED
    assert set(indexed.chunks.values_list("pk", flat=True)) == ids
    assert vector_store().counts_by_document() == {indexed.pk: indexed.chunk_count}


def test_recover_vectors_indexes_documents_again_that_lost_chunks(indexed):
    indexed.chunks.first().delete()

    recovery.recover_vectors()
    run_jobs.run_queued_jobs()
    indexed.refresh_from_db()

    assert indexed.status == DocumentStatus.INDEXED
    assert indexed.chunks.count() == indexed.chunk_count == vector_store().count(indexed.pk)


def test_recover_vectors_changes_nothing_when_all_agrees(indexed):
    before = Document.objects.values().get()

    recovery.recover()
    recovery.recover_vectors()

    assert Document.objects.values().get() == before


def test_recover_vectors_retries_documents_that_failed_for_want_of_the_store(vector_server):
    owner = local_user()
    waiting = index(owner, text_file("a.txt", "停车证每年三月更新。"))
    broken = index(owner, text_file("b.txt", "食堂十一点开门。"))
    Document.objects.filter(pk=waiting.pk).update(
        status=DocumentStatus.FAILED, error_code="VECTOR_STORE_UNAVAILABLE"
    )
    Document.objects.filter(pk=broken.pk).update(
        status=DocumentStatus.FAILED, error_code="PDF_TEXT_NOT_EXTRACTABLE"
    )

    recovery.recover_vectors()

    statuses = dict(Document.objects.values_list("pk", "status"))
    assert statuses == {waiting.pk: DocumentStatus.PENDING, broken.pk: DocumentStatus.FAILED}


def test_recover_vectors_does_nothing_while_the_store_is_away(indexed, settings, tmp_path):
    settings.DATA_DIR = tmp_path
    Document.objects.update(status=DocumentStatus.DELETING)

    recovery.recover_vectors()

    assert Document.objects.get().status == DocumentStatus.DELETING


def test_sweep_puts_a_job_that_the_queue_lost_back_without_doubling_it(leave_rules):
    accept_upload(local_user(), leave_rules)
    tasks.HUEY.flush()

    tasks.sweep.call_local()
    tasks.sweep.call_local()

    assert [task.name for task in tasks.HUEY.pending()] == ["index_documents"]
    tasks.HUEY.flush()


def test_the_task_of_a_job_that_is_done_does_nothing(indexed):
    before = IndexJob.objects.values().get()

    tasks.index_documents.call_local()

    assert IndexJob.objects.values().get() == before
