"""The same file twice: accepted, and told to its owner alone."""

from __future__ import annotations

import pytest

from apps.accounts.models import User
from apps.documents.indexing.deletion import delete_document
from apps.documents.tests.conftest import index, text_file
from apps.documents.uploads.accept import accept_upload

pytestmark = pytest.mark.django_db(transaction=True)
TEXT = "停车证每年三月更新。"


def same_as(document):
    return {
        "code": "same_content",
        "document_id": str(document.pk),
        "filename": document.filename,
    }


def test_same_content_is_told_before_and_after_indexing(vector_server, owner):
    first = index(owner, text_file("甲.txt", TEXT))
    waiting = accept_upload(owner, text_file("乙.txt", TEXT))
    assert waiting.warnings == [same_as(first)]

    third = index(owner, text_file("丙.txt", TEXT))

    waiting.refresh_from_db()
    first.refresh_from_db()
    assert (first.warnings, waiting.warnings, third.warnings) == (
        [],
        [same_as(first)],
        [same_as(first)],
    )


def test_same_content_of_another_person_is_not_told(vector_server, owner):
    index(User.objects.create(username="other"), text_file("甲.txt", TEXT))
    assert index(owner, text_file("乙.txt", TEXT)).warnings == []


def test_deleted_twin_is_forgotten(vector_server, owner):
    first, second, third = (index(owner, text_file(f"{n}.txt", TEXT)) for n in range(3))

    delete_document(first)

    second.refresh_from_db()
    third.refresh_from_db()
    assert (second.warnings, third.warnings) == ([], [same_as(second)])


def test_same_content_is_told_by_api_and_pages(client, vector_server, owner):
    index(owner, text_file("<甲>.txt", TEXT))
    sentence = "与《<甲>.txt》内容相同。"

    answer = client.post("/api/v1/documents", {"file": text_file("乙.txt", TEXT)}).json()
    row = client.post(
        "/documents/upload", {"files": text_file("丙.txt", TEXT)}, headers={"HX-Request": "true"}
    ).content.decode()
    told = client.post("/documents/upload", {"files": text_file("丁.txt", TEXT)}, follow=True)
    detail = client.get(f"/documents/{answer['id']}").content.decode()

    assert answer["warnings"] == [{"code": "same_content", "message": sentence}]
    assert "与《&lt;甲&gt;.txt》内容相同。" in row
    assert "与《&lt;甲&gt;.txt》内容相同。" in detail
    assert [str(message) for message in told.context["messages"]] == [
        "已上传 丁.txt",
        f"丁.txt: {sentence}",
    ]
