"""The documents pages: page and fragment, happy, forbidden and invalid."""

from __future__ import annotations

import uuid

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.accounts.local_user import local_user
from apps.documents.indexing.index_definition import COLLECTION, configured_definition
from apps.documents.models import Chunk, Document, DocumentStatus, VectorIndex

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def user():
    return local_user()


def make_document(owner, filename="手册.md", chunks=0, **values):
    facts = {"file_type": "md", "mime_type": "text/markdown", "file_size": 2048}
    facts |= {"sha256": "0" * 64, "status": DocumentStatus.INDEXED, "chunk_count": chunks}
    document = Document.objects.create(owner=owner, filename=filename, **{**facts, **values})
    Chunk.objects.bulk_create(
        Chunk(
            id=uuid.uuid4(),
            document=document,
            order_index=index,
            content=f"第{index}段",
            start_char=0,
            end_char=3,
            char_count=3,
        )
        for index in range(chunks)
    )
    return document


@pytest.fixture
def foreign_document(django_user_model):
    return make_document(django_user_model.objects.create(username="stranger"), "fremd.md")


def names_in(response):
    return [document.filename for document in response.context["page"].object_list]


def test_list_is_a_page_and_to_htmx_a_fragment(client, user):
    make_document(user)
    page = client.get("/documents").content.decode()
    fragment = client.get("/documents", headers=HTMX)
    assert page.startswith("<!doctype html>")
    assert fragment.content.decode().lstrip().startswith('<section id="listing"')
    assert "HX-Request" in fragment["Vary"]
    assert "手册.md" in page
    assert "手册.md" in fragment.content.decode()


def test_list_shows_only_own_documents_that_are_not_being_deleted(client, user, foreign_document):
    make_document(user, "a.md")
    make_document(user, "b.md", status=DocumentStatus.DELETING)
    assert names_in(client.get("/documents")) == ["a.md"]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", ["c.md", "b.md", "A.md"]),
        ("?status=failed", ["b.md"]),
        ("?status=nonsense&sort=nonsense&page=nonsense", ["c.md", "b.md", "A.md"]),
        ("?q=a.M", ["A.md"]),
        ("?sort=oldest", ["A.md", "b.md", "c.md"]),
        ("?sort=size", ["b.md", "A.md", "c.md"]),
        ("?status=deleting", ["c.md", "b.md", "A.md"]),
    ],
)
def test_list_is_filtered_and_sorted(client, user, query, names):
    make_document(user, "A.md", file_size=20)
    make_document(user, "b.md", file_size=30, status=DocumentStatus.FAILED)
    make_document(user, "c.md", file_size=10)
    assert names_in(client.get(f"/documents{query}")) == names


def test_list_counts_documents_by_status(client, user):
    make_document(user, "a.md")
    make_document(user, "b.md", status=DocumentStatus.FAILED)
    counts = client.get("/documents?status=failed").context["status_counts"]
    assert [(c["label"], c["count"], c["is_current"]) for c in counts] == [
        ("全部", 2, False),
        ("等待索引", 0, False),
        ("索引中", 0, False),
        ("已就绪", 1, False),
        ("失败", 1, True),
    ]


@pytest.mark.parametrize("status", ["pending", "indexing", "indexed", "failed"])
def test_list_refreshes_itself_while_something_is_unfinished(client, user, status):
    make_document(user, status=status)
    refreshes = "every 2s" in client.get("/documents", headers=HTMX).content.decode()
    assert refreshes == (status in {"pending", "indexing"})


def test_list_query_count_does_not_grow_with_rows(client, user):
    make_document(user)
    client.get("/documents")
    with CaptureQueriesContext(connection) as one:
        client.get("/documents")
    make_document(user, warnings=[{"code": "TEXT_CUT"}])
    make_document(user, status=DocumentStatus.FAILED)
    with CaptureQueriesContext(connection) as three:
        client.get("/documents")
    assert len(one) == len(three) == 6  # person, profile, page, count, states, index


def test_detail_is_a_page_and_to_htmx_the_right_pane(client, user):
    document = make_document(user, chunks=12)
    url = reverse("documents:detail", args=[document.id])
    page = client.get(url).content.decode()
    pane = client.get(url, headers=HTMX).content.decode()
    assert page.startswith("<!doctype html>")
    assert pane.lstrip().startswith('<header class="bar">')
    for text in ("第0段", "第9段"):
        assert text in page
        assert text in pane
    assert "第10段" not in pane


def test_chunks_are_paged(client, user):
    document = make_document(user, chunks=12)
    url = reverse("documents:chunks", args=[document.id])
    fragment = client.get(f"{url}?page=2", headers=HTMX).content.decode()
    assert fragment.lstrip().startswith('<div id="chunks"')
    assert "第11段" in fragment
    assert "第9段" not in fragment
    assert client.get(f"{url}?page=2").content.decode().startswith("<!doctype html>")


def test_chunk_leads_to_its_place_in_the_document(client, user):
    document = make_document(user, chunks=12)
    wanted = document.chunks.get(order_index=11)
    place = client.get(reverse("documents:chunk", args=[document.id, wanted.id]))["Location"]
    assert place == f"/documents/{document.id}?chunks=2#chunk-{wanted.id}"
    page = client.get(place).content.decode()
    assert f'id="chunk-{wanted.id}"' in page
    missing = reverse("documents:chunk", args=[document.id, uuid.uuid4()])
    assert client.get(missing).status_code == 404


@pytest.mark.parametrize("name", ["detail", "chunks", "delete", "download"])
def test_foreign_document_looks_missing(client, foreign_document, name):
    response = client.get(reverse(f"documents:{name}", args=[foreign_document.id]))
    assert response.status_code == 404
    assert "fremd" not in response.content.decode()


@pytest.mark.parametrize("name", ["retry", "delete"])
def test_foreign_document_cannot_be_changed(client, foreign_document, name):
    response = client.post(reverse(f"documents:{name}", args=[foreign_document.id]))
    assert response.status_code == 404
    assert Document.objects.filter(id=foreign_document.id, status="indexed").exists()


def test_upload_stores_files_and_returns_to_the_list(client, user):
    files = [SimpleUploadedFile("一.md", b"# A\n\ntext"), SimpleUploadedFile("b.txt", b"text")]
    response = client.post("/documents/upload", {"files": files}, follow=True)
    assert response.redirect_chain == [("/documents", 302)]
    assert sorted(names_in(response)) == ["b.txt", "一.md"]
    assert [str(m) for m in response.context["messages"]] == ["已上传 一.md", "已上传 b.txt"]


def test_upload_by_script_answers_with_the_outcome(client, user):
    good = client.post(
        "/documents/upload", {"files": SimpleUploadedFile("a.md", b"# A\n\ntext")}, headers=HTMX
    )
    bad = client.post(
        "/documents/upload", {"files": SimpleUploadedFile("<b>.exe", b"MZ")}, headers=HTMX
    )
    assert (good.status_code, bad.status_code) == (200, 415)
    assert good.content.decode().startswith('<li class="upload upload-ok"')
    assert "&lt;b&gt;.exe" in bad.content.decode()
    assert Document.objects.count() == 1


def test_upload_without_a_file_says_so(client, user):
    response = client.post("/documents/upload", follow=True)
    assert [str(m) for m in response.context["messages"]] == ["没有选择文件。"]
    assert client.post("/documents/upload", headers=HTMX).status_code == 422


def test_failed_document_is_retried(client, user):
    uploaded = client.post("/documents/upload", {"files": SimpleUploadedFile("a.md", b"text")})
    assert uploaded.status_code == 302
    document = Document.objects.get()
    Document.objects.update(status=DocumentStatus.FAILED)
    document.job.status = "failed"
    document.job.save()
    response = client.post(reverse("documents:retry", args=[document.id]))
    assert response["Location"] == reverse("documents:detail", args=[document.id])
    assert Document.objects.get().status == DocumentStatus.PENDING


@pytest.mark.parametrize(
    ("code", "is_offered"), [("PDF_ENCRYPTED", False), ("VECTOR_STORE_UNAVAILABLE", True)]
)
def test_retry_is_offered_where_it_can_help(client, user, code, is_offered):
    document = make_document(user, status="failed", error_code=code)
    address = f'action="/documents/{document.id}/retry"'
    page = client.get(f"/documents/{document.id}").content.decode()
    assert page.count(address) == 2 * is_offered


def test_warning_in_the_list_leads_to_the_detail(client, user):
    document = make_document(user, warnings=[{"code": "text_cut"}])
    page = client.get("/documents").content.decode()
    assert f'<a class="pill-note" href="/documents/{document.id}"' in page


def test_retry_of_an_indexed_document_is_refused_with_a_reason(client, user):
    document = make_document(user)
    response = client.post(reverse("documents:retry", args=[document.id]), follow=True)
    assert [str(m) for m in response.context["messages"]] == ["只有索引失败的文档可以重试。"]


def test_deletion_asks_with_the_name_on_a_page_and_in_the_dialog(client, user):
    document = make_document(user, "<b>手册</b>.md")
    url = reverse("documents:delete", args=[document.id])
    page, dialog = client.get(url).content.decode(), client.get(url, headers=HTMX).content.decode()
    assert page.startswith("<!doctype html>")
    assert dialog.lstrip().startswith('<form class="ask"')
    for html in (page, dialog):
        assert "&lt;b&gt;手册&lt;/b&gt;.md" in html
    assert Document.objects.filter(id=document.id).exists()


def test_download_is_an_attachment_under_its_own_name(client, user):
    document = make_document(user, "手册 1.md")
    document.stored_path.parent.mkdir(parents=True, exist_ok=True)
    document.stored_path.write_bytes(b"<script>")
    response = client.get(reverse("documents:download", args=[document.id]))
    assert b"".join(response.streaming_content) == b"<script>"
    assert response["Content-Disposition"].startswith("attachment; filename*=utf-8''")
    assert response["Content-Type"] == "application/octet-stream"
    assert response["X-Content-Type-Options"] == "nosniff"
    document.stored_path.unlink()


def test_download_of_a_lost_original_explains(client, user):
    document = make_document(user)
    response = client.get(reverse("documents:download", args=[document.id]))
    assert response.status_code == 404
    assert "原文件已不在数据目录中" in response.content.decode()


@pytest.mark.parametrize(
    ("method", "path"), [("get", "/documents"), ("post", "/documents/upload")]
)
def test_login_mode_sends_strangers_to_the_sign_in_page(client, settings, method, path):
    settings.LOCAL_MODE = False
    response = getattr(client, method)(path)
    assert response["Location"] == f"/accounts/login/?next={path}"


def test_opening_a_forms_address_leads_to_its_page(client, user):
    document = make_document(user)
    addresses = ["/documents/upload", f"/documents/{document.id}/retry", "/accounts/logout/"]
    pages = ["/documents", f"/documents/{document.id}", "/"]
    assert [client.get(address).headers.get("Location") for address in addresses] == pages


def test_failed_documents_are_retried_together(client, user, foreign_document):
    make_document(user, "a.md", error_code="MODEL_UPSTREAM_ERROR", status="failed")
    make_document(user, "b.md", error_code=None, status="failed")
    make_document(user, "scan.pdf", error_code="PDF_TEXT_NOT_EXTRACTABLE", status="failed")
    Document.objects.filter(pk=foreign_document.pk).update(status="failed")
    page = client.get("/documents").content.decode()
    assert "2 份文档索引失败，可以重试。" in page

    response = client.post("/documents/retry", follow=True)

    assert [str(m) for m in response.context["messages"]] == ["已重新开始索引 2 份文档"]
    assert dict(Document.objects.values_list("filename", "status")) == {
        "a.md": "pending",
        "b.md": "pending",
        "scan.pdf": "failed",
        "fremd.md": "failed",
    }
    assert 'id="retry-all"' not in client.get("/documents").content.decode()


def test_retry_of_all_without_failed_documents_says_so(client, user):
    make_document(user, status="failed", error_code="PDF_ENCRYPTED")
    response = client.post("/documents/retry", follow=True)
    assert [str(m) for m in response.context["messages"]] == ["没有可以重试的文档。"]
    assert client.get("/documents/retry")["Location"] == "/documents"


@pytest.mark.parametrize("address", ["/documents", "/chat/new"])
def test_outdated_index_is_announced(client, user, address):
    make_document(user)
    kept = configured_definition()
    VectorIndex.objects.create(
        collection=COLLECTION,
        embedding_model="another",
        dimension=384,
        chunk_size=kept.chunk_size,
        chunk_overlap=kept.chunk_overlap,
        text_version=kept.text_version,
    )
    chinese = client.get(address).content.decode()
    english = client.get(address, headers={"Accept-Language": "en"}).content.decode()
    assert f"索引与当前配置不符（向量模型: another → {kept.embedding_model}）" in chinese
    assert f"(embedding model: another → {kept.embedding_model})" in english
    assert "manage.py reindex" in chinese

    VectorIndex.objects.update(embedding_model=kept.embedding_model)
    assert "index-banner" not in client.get(address).content.decode()
