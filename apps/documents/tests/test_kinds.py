"""A kind of file is known by one module alone; its failures are worded for the reader."""

from __future__ import annotations

import subprocess
import sys

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import translation

from apps.documents.errors import ContentMismatchError, failure_text
from apps.documents.kinds.registry import installed
from apps.documents.models import Document
from apps.documents.search import search_passages
from apps.documents.tests.conftest import index
from apps.documents.tests.made_up_kind import MARK, SHEET
from apps.documents.uploads.validation import validate_upload
from apps.llm.errors import ModelUnavailableError, ModelUnreachableError
from kbqa_project.env import BASE_DIR

CONTENT = MARK + b"The code of the north depot=7719\n\nThe colour of the gate=teal\n"


@pytest.fixture
def sheet(monkeypatch):
    """The made-up kind, known like any other."""
    monkeypatch.setitem(installed(), SHEET.code, SHEET)


def upload(name="depots.sheet"):
    return SimpleUploadedFile(name, CONTENT, "application/zip")


@pytest.mark.django_db(transaction=True)
def test_a_new_kind_is_uploaded_indexed_and_found(sheet, vector_server, owner, client):
    document = index(owner, upload())

    assert (document.status, document.file_type, document.mime_type, document.page_count) == (
        "indexed",
        "sheet",
        "application/x-sheet",
        3,
    )
    found = search_passages("Which code does the north depot have?", owner=owner, limit=1)
    assert [(hit.content, hit.page_number) for hit in found] == [
        ("The code of the north depot is 7719", 1)
    ]
    page = client.get(reverse("documents:list")).content.decode()
    assert 'data-types=".pdf .md .markdown .txt .sheet"' in page
    assert "application/x-sheet" in page
    assert "PDF, Markdown, TXT, Sheet" in page
    assert ">Sheet</span>" in page


@pytest.mark.parametrize("name", ["a.pdf", "a.txt", "a.md"])
def test_content_of_a_new_kind_under_another_name_is_refused(sheet, name):
    with pytest.raises(ContentMismatchError):
        validate_upload(upload(name))


@pytest.mark.parametrize("module", ["pdf", "text", "markdown", "registry"])
def test_a_kind_needs_no_django(module):
    code = f"import sys, apps.documents.kinds.{module}; sys.exit('django' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=BASE_DIR, check=False).returncode == 0


@pytest.mark.django_db
def test_a_failure_is_worded_in_the_language_of_the_reader(owner):
    document = Document(
        owner=owner,
        status="failed",
        error_code="PDF_TOO_MANY_PAGES",
        error_places={"limit": 12},
    )
    assert document.error_message == "PDF 超过了 12 页的上限，请拆分后再上传。"
    with translation.override("en"):
        assert document.error_message == (
            "The PDF has more than 12 pages. Split it and upload the parts."
        )


@pytest.mark.parametrize(
    ("code", "places", "text"),
    [
        ("PDF_TOO_MANY_PAGES", {"sentence": "more than 9"}, "more than 9"),
        ("GONE_FROM_THE_CODE", {"sentence": "as it was"}, "as it was"),
        ("GONE_FROM_THE_CODE", {}, "出现内部错误，请稍后重试。"),
    ],
)
def test_a_failure_of_an_older_version_still_says_something(code, places, text):
    assert failure_text(code, places) == text


def test_a_failure_keeps_its_sentence_where_two_reasons_share_a_code():
    failures = [ModelUnavailableError(), ModelUnreachableError()]
    told = [failure_text(e.code, {"class": type(e).__name__}) for e in failures]
    assert told == [error.text for error in failures]
    assert failures[0].code == failures[1].code
