"""The documents part of the JSON API (003 §12.1)."""

from __future__ import annotations

import uuid

import pytest
from django.test import Client

from apps.accounts.local_user import local_user
from apps.accounts.models import User
from apps.documents.indexing import run_jobs
from apps.documents.models import Document, DocumentStatus
from apps.documents.tests.conftest import LEAVE_RULES, index, markdown_file, text_file

pytestmark = pytest.mark.django_db(transaction=True)

BASE = "/api/v1"
DOCUMENT_FIELDS = {
    "id", "filename", "file_type", "mime_type", "file_size", "sha256", "status", "page_count",
    "encoding", "warnings", "chunk_count", "progress", "error_code", "error_message",
    "created_at", "updated_at",
}  # fmt: skip


@pytest.fixture
def api():
    return Client(HTTP_HOST="127.0.0.1")


@pytest.fixture
def foreign(transactional_db, vector_server):
    """An indexed document of another person."""
    return index(User.objects.create(username="other"), text_file("秘密.txt", "年假秘密。"))


def error_of(response):
    return response.status_code, response.json()["error"]["code"]


def test_upload_answers_202_with_the_pending_document(api, leave_rules):
    response = api.post(f"{BASE}/documents", {"file": leave_rules})
    body = response.json()

    assert response.status_code == 202
    assert set(body) == DOCUMENT_FIELDS
    assert (body["filename"], body["status"], body["chunk_count"]) == ("假期.md", "pending", 0)
    assert body["progress"] == {"stage": "queued", "done": 0, "total": 0, "seconds_left": None}
    assert Document.objects.get().pk == uuid.UUID(body["id"])


def test_upload_refuses_what_is_no_document(api):
    assert error_of(api.post(f"{BASE}/documents")) == (422, "VALIDATION_ERROR")
    assert error_of(api.post(f"{BASE}/documents", {"file": "text"})) == (422, "VALIDATION_ERROR")
    both = {"file": [text_file("a.txt", "甲"), text_file("b.txt", "乙")]}
    assert error_of(api.post(f"{BASE}/documents", both)) == (422, "VALIDATION_ERROR")
    program = text_file("setup.exe", "MZ")
    assert error_of(api.post(f"{BASE}/documents", {"file": program})) == (
        415,
        "UNSUPPORTED_FILE_TYPE",
    )
    assert Document.objects.count() == 0


def test_upload_refuses_a_file_over_the_limit(api, settings):
    settings.ENV = settings.ENV.model_copy(update={"max_upload_mib": 1})
    large = text_file("large.txt", "x" * (1024 * 1024 + 1))

    response = api.post(f"{BASE}/documents", {"file": large})

    assert error_of(response) == (413, "FILE_TOO_LARGE")


def test_list_pages_and_filters_the_callers_documents(api, indexed, foreign):
    pending = api.post(f"{BASE}/documents", {"file": text_file("b.txt", "停车。")}).json()["id"]

    everything = api.get(f"{BASE}/documents").json()
    first = api.get(f"{BASE}/documents?limit=1").json()
    second = api.get(f"{BASE}/documents?limit=1&offset=1").json()
    filtered = api.get(f"{BASE}/documents?status=pending").json()

    assert [item["id"] for item in everything["items"]] == [pending, str(indexed.pk)]
    assert everything["count"] == first["count"] == second["count"] == 2
    assert [item["id"] for item in first["items"] + second["items"]] == [pending, str(indexed.pk)]
    assert ([item["id"] for item in filtered["items"]], filtered["count"]) == ([pending], 1)


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=101", "offset=-1", "limit=x", "status=unknown", "status="]
)
def test_list_refuses_parameters_out_of_bounds(api, db, query):
    assert error_of(api.get(f"{BASE}/documents?{query}")) == (422, "VALIDATION_ERROR")


def test_detail_shows_an_indexed_document(api, indexed):
    body = api.get(f"{BASE}/documents/{indexed.pk}").json()

    assert set(body) == DOCUMENT_FIELDS
    assert (body["status"], body["chunk_count"]) == ("indexed", indexed.chunk_count)
    assert (body["error_code"], body["error_message"]) == (None, None)


def test_chunks_are_paged_in_reading_order(api, indexed):
    chunks = list(indexed.chunks.order_by("order_index"))

    page = api.get(f"{BASE}/documents/{indexed.pk}/chunks?limit=1&offset=1").json()

    assert page["count"] == len(chunks)
    assert page["items"] == [
        {
            "id": str(chunk.pk),
            "document_id": str(indexed.pk),
            "order_index": chunk.order_index,
            "content": chunk.content,
            "page_number": None,
            "start_char": chunk.start_char,
            "end_char": chunk.end_char,
            "heading_path": chunk.heading_path,
            "char_count": chunk.char_count,
        }
        for chunk in chunks[1:2]
    ]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("get", ""),
        ("get", "/chunks"),
        ("get", "/file"),
        ("post", "/retry"),
        ("delete", ""),
    ],
)
def test_a_document_of_another_person_is_not_found(api, foreign, method, path):
    for document_id in (foreign.pk, uuid.uuid4()):
        response = getattr(api, method)(f"{BASE}/documents/{document_id}{path}")

        assert error_of(response) == (404, "DOCUMENT_NOT_FOUND")
    assert Document.objects.get().status == DocumentStatus.INDEXED


def test_retry_is_for_failed_documents_only(api, indexed):
    assert error_of(api.post(f"{BASE}/documents/{indexed.pk}/retry")) == (
        409,
        "DOCUMENT_NOT_FAILED",
    )
    Document.objects.update(status=DocumentStatus.FAILED, error_code="X")

    response = api.post(f"{BASE}/documents/{indexed.pk}/retry")

    assert response.status_code == 202
    assert (response.json()["status"], response.json()["error_code"]) == ("pending", None)


def test_delete_answers_204_and_then_404(api, indexed):
    first = api.delete(f"{BASE}/documents/{indexed.pk}")
    second = api.delete(f"{BASE}/documents/{indexed.pk}")

    assert (first.status_code, first.content) == (204, b"")
    assert error_of(second) == (404, "DOCUMENT_NOT_FOUND")


def test_delete_answers_503_and_keeps_the_document_when_the_store_is_away(
    api, indexed, settings, tmp_path
):
    settings.DATA_DIR = tmp_path

    response = api.delete(f"{BASE}/documents/{indexed.pk}")

    assert error_of(response) == (503, "VECTOR_STORE_UNAVAILABLE")
    assert api.get(f"{BASE}/documents/{indexed.pk}").json()["status"] == "deleting"


def test_file_is_the_original_as_an_attachment(api, indexed):
    response = api.get(f"{BASE}/documents/{indexed.pk}/file")

    assert b"".join(response.streaming_content) == LEAVE_RULES.encode()
    assert response["Content-Disposition"] == (
        "attachment; filename*=utf-8''%E5%81%87%E6%9C%9F.md"
    )
    assert response["Content-Type"] == "application/octet-stream"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Cache-Control"].startswith("private")


def test_file_that_is_gone_is_not_found(api, indexed):
    indexed.stored_path.unlink()

    assert error_of(api.get(f"{BASE}/documents/{indexed.pk}/file")) == (404, "ORIGINAL_MISSING")


def test_search_answers_the_documented_shape(api, indexed):
    body = api.get(f"{BASE}/search", {"query": "入职三年有多少天年假？", "limit": 1}).json()
    (hit,) = body["items"]
    chunk = indexed.chunks.get(pk=hit["chunk_id"])

    assert set(body) == {"items"}
    assert {name: value for name, value in hit.items() if name != "score"} == {
        "document_id": str(indexed.pk),
        "filename": "假期.md",
        "chunk_id": str(chunk.pk),
        "order_index": chunk.order_index,
        "page_number": None,
        "start_char": chunk.start_char,
        "end_char": chunk.end_char,
        "content": chunk.content,
    }
    assert 0.7 < hit["score"] <= 1


@pytest.mark.parametrize(
    "query",
    ["", "query=", "query=%20%0A", "query=a&limit=0", "query=a&limit=101", "query=" + "a" * 4001],
)
def test_search_refuses_parameters_out_of_bounds(api, db, query):
    assert error_of(api.get(f"{BASE}/search?{query}")) == (422, "VALIDATION_ERROR")


@pytest.mark.parametrize(
    "query", ["%00", "%ED%A0%80", "%FF%FE", "%22%20or%20scope%20!=%20%22", "%F0%9F%98%80"]
)
def test_search_takes_any_text(api, indexed, query):
    response = api.get(f"{BASE}/search?query={query}")

    assert response.status_code == 200
    assert {item["document_id"] for item in response.json()["items"]} <= {str(indexed.pk)}


def test_a_state_change_from_another_site_is_refused(api, leave_rules):
    response = api.post(
        f"{BASE}/documents", {"file": leave_rules}, headers={"origin": "https://evil.example"}
    )

    assert error_of(response) == (403, "FOREIGN_ORIGIN")
    assert Document.objects.count() == 0


def test_list_needs_two_queries_however_many_documents_there_are(
    api, indexed, django_assert_num_queries
):
    local_user()
    for number in range(3):
        with django_assert_num_queries(3):  # the person, the page, the count
            api.get(f"{BASE}/documents")
        api.post(f"{BASE}/documents", {"file": markdown_file(f"{number}.md", LEAVE_RULES)})


def test_an_uploaded_document_can_be_searched_after_its_job(api, vector_server, leave_rules):
    document_id = api.post(f"{BASE}/documents", {"file": leave_rules}).json()["id"]
    assert api.get(f"{BASE}/search", {"query": "年假"}).json() == {"items": []}

    run_jobs.run_queued_jobs()

    items = api.get(f"{BASE}/search", {"query": "年假"}).json()["items"]
    assert {item["document_id"] for item in items} == {document_id}


def test_search_answers_503_when_the_store_is_away(api, indexed, settings, tmp_path):
    settings.DATA_DIR = tmp_path

    response = api.get(f"{BASE}/search", {"query": "年假"})

    assert error_of(response) == (503, "VECTOR_STORE_UNAVAILABLE")


def test_failed_documents_are_retried_together(api, foreign, indexed):
    Document.objects.update(status=DocumentStatus.FAILED, error_code="MODEL_TIMEOUT")

    response = api.post(f"{BASE}/documents/retry")

    assert (response.status_code, response.json()) == (202, {"queued": 1})
    foreign.refresh_from_db()
    assert foreign.status == DocumentStatus.FAILED
    run_jobs.run_queued_jobs()
    indexed.refresh_from_db()
    assert indexed.status == DocumentStatus.INDEXED
    assert api.post(f"{BASE}/documents/retry").json() == {"queued": 0}


def test_failed_documents_are_not_retried_for_a_foreign_page(api, indexed):
    response = api.post(f"{BASE}/documents/retry", headers={"Origin": "http://example.com"})

    assert error_of(response) == (403, "FOREIGN_ORIGIN")
