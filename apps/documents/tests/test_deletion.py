"""Deleting documents for good, whatever else happens at the time."""

from __future__ import annotations

import threading

import pytest
from django.db import connection

from apps.accounts.local_user import local_user
from apps.documents.errors import VectorStoreUnavailableError
from apps.documents.indexing import recovery, run_jobs
from apps.documents.indexing.deletion import delete_document
from apps.documents.models import Chunk, Document, DocumentStatus, IndexJob
from apps.documents.search import search_passages
from apps.documents.tests.conftest import index, text_file
from apps.documents.uploads.accept import accept_upload
from apps.documents.vectors.access import vector_store
from tests.server_process import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def assert_nothing_is_left(document):
    assert not document.stored_path.exists()
    assert vector_store().count(document.pk) == 0
    assert Document.objects.filter(pk=document.pk).count() == 0
    assert Chunk.objects.filter(document_id=document.pk).count() == 0
    assert IndexJob.objects.filter(document_id=document.pk).count() == 0


def test_delete_document_leaves_no_row_file_vector_or_hit(indexed):
    kept = index(local_user(), text_file("停车.txt", "停车证每年三月更新。"))

    delete_document(indexed)

    assert_nothing_is_left(indexed)
    passages = search_passages("年假", owner=local_user(), limit=5)
    assert {passage.document_id for passage in passages} == {kept.pk}


def test_delete_document_is_kept_and_finished_later_when_the_store_is_away(
    indexed, settings, tmp_path
):
    reachable = settings.DATA_DIR
    settings.DATA_DIR = tmp_path
    with pytest.raises(VectorStoreUnavailableError):
        delete_document(indexed)

    indexed.refresh_from_db()
    assert indexed.status == DocumentStatus.DELETING
    assert indexed.stored_path.exists()
    assert search_passages("年假", owner=local_user(), limit=5) == []

    settings.DATA_DIR = reachable
    recovery.recover_vectors()
    assert_nothing_is_left(indexed)


def test_delete_document_is_satisfied_by_what_is_gone_already(indexed):
    indexed.stored_path.unlink()
    vector_store().delete_document(indexed.pk)

    delete_document(indexed)
    delete_document(indexed)

    assert_nothing_is_left(indexed)


def test_a_queued_document_can_be_deleted(vector_server, leave_rules):
    document = accept_upload(local_user(), leave_rules)

    delete_document(document)
    run_jobs.run_queued_jobs()

    assert_nothing_is_left(document)


def test_a_document_that_is_deleted_while_it_is_indexed_does_not_come_back(
    vector_server, settings
):
    small = {"chunk_size": 50, "chunk_overlap": 0}
    settings.ENV = settings.ENV.model_copy(update=small)
    text = "\n\n".join(
        f"第{number}条：这是一条不算长的规定，共有三百条。" for number in range(300)
    )
    document = accept_upload(local_user(), text_file("长.txt", text))
    worker = threading.Thread(target=_index)
    worker.start()
    wait_until(lambda: Document.objects.filter(progress_done__gt=0).exists())

    delete_document(document)
    worker.join(30)

    assert not worker.is_alive()
    assert_nothing_is_left(document)


def _index():
    try:
        run_jobs.run_queued_jobs()
    finally:
        connection.close()
