"""From an accepted upload to an indexed document, on the real embedding model and vector store."""

from __future__ import annotations

import sqlite3
import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from apps.accounts.local_user import local_user
from apps.documents.indexing import index_run, jobs, recovery, run_jobs
from apps.documents.models import Chunk, Document, DocumentStatus, IndexJob, JobStatus
from apps.documents.tests.conftest import LEAVE_RULES, index, markdown_file, text_file
from apps.documents.uploads.accept import accept_upload, retry_document
from apps.documents.vectors.access import vector_store
from tests.server_process import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def test_indexing_publishes_chunks_and_vectors(indexed):
    chunks = list(indexed.chunks.order_by("order_index"))

    assert (indexed.status, indexed.error_code) == (DocumentStatus.INDEXED, None)
    assert indexed.chunk_count == len(chunks) == vector_store().count(indexed.pk)
    assert [chunk.order_index for chunk in chunks] == list(range(len(chunks)))
    assert {chunk.content for chunk in chunks} == {
        LEAVE_RULES[chunk.start_char : chunk.end_char] for chunk in chunks
    }
    assert all(chunk.char_count == len(chunk.content) for chunk in chunks)


def test_indexing_records_how_the_job_ended(indexed):
    job = indexed.job

    assert (job.status, job.lease, job.attempt_count) == (JobStatus.SUCCEEDED, None, 1)
    assert job.started_at <= job.finished_at


def test_indexing_fails_with_a_reason_when_the_original_is_gone(vector_server, leave_rules):
    document = accept_upload(local_user(), leave_rules)
    document.stored_path.unlink()

    run_jobs.run_queued_jobs()
    document.refresh_from_db()

    assert (document.status, document.error_code) == (DocumentStatus.FAILED, "ORIGINAL_MISSING")
    assert document.error_message == "原文件已不在数据目录中，请删除该文档后重新上传。"
    assert IndexJob.objects.get(document=document).status == JobStatus.FAILED


def test_retry_of_a_failed_document_indexes_it(vector_server, leave_rules):
    document = accept_upload(local_user(), leave_rules)
    content = document.stored_path.read_bytes()
    document.stored_path.unlink()
    run_jobs.run_queued_jobs()
    document.stored_path.write_bytes(content)

    document.refresh_from_db()
    retry_document(document)
    assert (document.status, document.error_code) == (DocumentStatus.PENDING, None)
    run_jobs.run_queued_jobs()
    document.refresh_from_db()

    assert document.status == DocumentStatus.INDEXED
    assert document.job.attempt_count == 2


def test_indexing_again_keeps_the_ids_of_unchanged_chunks(vector_server):
    paragraphs = [f"第{number}段。" + "资料内容" * 20 for number in range(12)]
    document = index(local_user(), text_file("资料.txt", "\n\n".join(paragraphs)))
    before = set(document.chunks.values_list("pk", flat=True))
    path = document.stored_path
    path.write_text("\n\n".join([*paragraphs[:9], "新的结尾。" * 30]), encoding="utf-8")

    jobs.queue_again([document.pk], statuses=[DocumentStatus.INDEXED])
    run_jobs.run_queued_jobs()
    document.refresh_from_db()
    after = set(document.chunks.values_list("pk", flat=True))

    assert document.status == DocumentStatus.INDEXED
    assert before & after
    assert before - after
    assert document.chunk_count == len(after) == vector_store().count(document.pk)


def test_a_claimed_job_is_left_alone_while_its_worker_lives(vector_server, leave_rules):
    document = accept_upload(local_user(), leave_rules)
    with run_jobs.held_lease() as lease:
        claim = jobs.claim_next(lease)

        assert claim is not None
        assert claim.document_id == document.pk
        assert not run_jobs.run_next_job()
        assert jobs.requeue_abandoned() == 0

    assert jobs.requeue_abandoned() == 1
    assert run_jobs.run_next_job()


def test_only_one_document_is_indexed_at_a_time(vector_server):
    owner = local_user()
    for number in range(2):
        accept_upload(owner, text_file(f"{number}.txt", f"第{number}篇文章。"))

    with run_jobs.held_lease() as first, run_jobs.held_lease() as second:
        assert jobs.claim_next(first) is not None
        assert jobs.claim_next(second) is None


def test_a_job_with_a_stale_heartbeat_is_queued_again(vector_server, leave_rules, settings):
    document = accept_upload(local_user(), leave_rules)
    with run_jobs.held_lease() as lease:
        claim = jobs.claim_next(lease)
        stale = timezone.now() - timedelta(seconds=settings.ENV.job_lease_s + 1)
        IndexJob.objects.update(heartbeat_at=stale)

        assert jobs.requeue_abandoned() == 1
        with pytest.raises(jobs.JobLostError):
            jobs.record(claim, page_count=1)
        with pytest.raises(jobs.JobLostError):
            jobs.succeed(claim, chunk_count=1)

    document.refresh_from_db()
    assert document.status == DocumentStatus.PENDING


def test_a_document_that_ends_its_worker_each_time_fails(vector_server, leave_rules):
    document = accept_upload(local_user(), leave_rules)
    for _ in range(jobs.MAX_INTERRUPTIONS):
        with run_jobs.held_lease() as lease:
            jobs.claim_next(lease)
        jobs.requeue_abandoned()
    document.refresh_from_db()

    assert (document.status, document.error_code) == (DocumentStatus.FAILED, "INDEX_INTERRUPTED")


def test_attempts_that_ended_do_not_count_as_interruptions(vector_server, leave_rules):
    document = accept_upload(local_user(), leave_rules)
    IndexJob.objects.update(attempt_count=jobs.MAX_INTERRUPTIONS - 1)
    with run_jobs.held_lease() as lease:
        jobs.claim_next(lease)

    jobs.requeue_abandoned()
    document.refresh_from_db()

    assert document.status == DocumentStatus.PENDING


def test_chunk_ids_are_the_ids_of_the_vectors(indexed):
    ids = set(indexed.chunks.values_list("pk", flat=True))
    vector = [0.0] * 383 + [1.0]

    hits = vector_store().search(vector, scopes=[f"user:{indexed.owner_id}"], limit=50)

    assert {hit.chunk_id for hit in hits} == ids


def test_ids_differ_between_documents_with_the_same_text(vector_server):
    owner = local_user()
    first = index(owner, markdown_file("a.md", LEAVE_RULES))
    second = index(owner, markdown_file("b.md", LEAVE_RULES))

    ids = Chunk.objects.values_list("pk", flat=True)

    assert len(set(ids)) == first.chunk_count + second.chunk_count
    assert Document.objects.indexed().count() == 2


def test_a_document_fails_with_a_reason_when_the_store_stays_away(
    vector_server, leave_rules, settings, tmp_path, monkeypatch
):
    monkeypatch.setattr(index_run, "STORE_WAIT_S", 0.2)
    document = accept_upload(local_user(), leave_rules)
    reachable = settings.DATA_DIR
    settings.DATA_DIR = tmp_path

    run_jobs.run_queued_jobs()
    document.refresh_from_db()

    assert (document.status, document.error_code) == (
        DocumentStatus.FAILED,
        "VECTOR_STORE_UNAVAILABLE",
    )
    settings.DATA_DIR = reachable
    recovery.recover_vectors()
    run_jobs.run_queued_jobs()
    document.refresh_from_db()
    assert document.status == DocumentStatus.INDEXED


def test_indexing_waits_for_a_writer_that_holds_the_database(vector_server, leave_rules, settings):
    document = accept_upload(local_user(), leave_rules)
    writer = sqlite3.connect(settings.DATABASES["default"]["NAME"], isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    worker = threading.Thread(target=_index)
    worker.start()

    with pytest.raises(AssertionError):
        wait_until(lambda: not worker.is_alive(), timeout_s=1.5)
    writer.execute("COMMIT")
    writer.close()
    worker.join(30)

    document.refresh_from_db()
    assert document.status == DocumentStatus.INDEXED


def _index():
    try:
        run_jobs.run_queued_jobs()
    finally:
        connection.close()
