"""What the chat pages say when none of a person's documents can be searched."""

from __future__ import annotations

import pytest
from django.urls import reverse

from apps.chat.streams.html import encode
from apps.chat.tests.conftest import finished_transcript
from apps.chat.turns.endings import finish_turn
from apps.chat.turns.start import start_turn
from apps.chat.turns.stream_events import AnswerSaved, PageTurn
from apps.documents.models import Document

pytestmark = pytest.mark.django_db


def refused_turn(session):
    turn = start_turn(session, "年假多少天？")
    finish_turn(turn, finished_transcript("没有足够的依据。", (), outcome="insufficient_evidence"))
    return turn


@pytest.mark.parametrize(
    ("status", "note"),
    [
        ("failed", "1 份文档索引失败，无法检索。"),
        ("indexing", "1 份文档正在索引，完成后就可以提问。"),
        ("indexed", "可以换一种问法，或上传相关文档。"),
    ],
)
def test_refusal_blames_documents_that_cannot_be_searched(client, session, document, status, note):
    refused_turn(session)
    Document.objects.update(status=status)

    page = client.get(reverse("chat:session", args=[session.id])).content.decode()

    assert note in page
    assert ("可以换一种问法" in page) == (status == "indexed")
    assert ("/documents?status=failed" in page) == (status == "failed")


def test_new_session_with_failed_documents_only_leads_to_them(client, document):
    Document.objects.update(status="failed")
    page = client.get("/chat/new").content.decode()
    assert "文档还不能检索" in page
    assert 'href="/documents?status=failed"' in page
    assert "先上传一份文档" not in page


def test_streamed_refusal_blames_documents_that_cannot_be_searched(session, document):
    turn = refused_turn(session)
    Document.objects.update(status="failed")

    ((name, fragment),) = encode(
        AnswerSaved(turn.message_id, "insufficient_evidence"),
        PageTurn(session.id, turn.message_id, turn.run_id),
    )

    assert name == "final"
    assert "1 份文档索引失败，无法检索。" in fragment
