"""What is said when some or all of a person's documents cannot be searched."""

from __future__ import annotations

import json

import pytest
from django.urls import reverse
from django.utils import translation

from apps.chat.streams import json_sse
from apps.chat.streams.html import encode
from apps.chat.tests.conftest import finished_transcript, make_document, sources_of
from apps.chat.turns.endings import ending_of, finish_turn
from apps.chat.turns.notes import UnsearchedNote
from apps.chat.turns.start import start_turn
from apps.chat.turns.stream_events import AnswerSaved, NumberedEvent
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

    ((name, fragment),) = encode(AnswerSaved(turn.message_id, "insufficient_evidence"), turn)

    assert name == "final"
    assert "1 份文档索引失败，无法检索。" in fragment


@pytest.fixture
def holdings(user, document):
    """One document that is indexed, two that failed, one that is waiting."""
    for status in ("failed", "failed", "pending"):
        other = make_document(user, f"{status}.md", [])
        Document.objects.filter(id=other.id).update(status=status)


NOTE = UnsearchedNote(failed_documents=2, unfinished_documents=1)
TEXT = "2 份文档索引失败，无法检索。 1 份文档正在索引，完成后就可以提问。"
DATA = {
    "code": "DOCUMENTS_NOT_SEARCHED",
    "message": TEXT,
    "failed_documents": 2,
    "unfinished_documents": 1,
}


@pytest.mark.usefixtures("holdings")
def test_json_refusal_tells_documents_that_were_not_searched(client, session):
    turn = refused_turn(session)

    ending = ending_of(turn.message_id)
    frame = json_sse.encode(NumberedEvent(7, ending)).decode()
    listed = client.get(f"/api/v1/sessions/{session.id}/messages").json()["items"]

    assert ending == AnswerSaved(turn.message_id, "insufficient_evidence", (NOTE,))
    assert json.loads(frame.partition("data: ")[2])["notes"] == [DATA]
    assert [message.get("notes") for message in listed] == [None, [DATA]]


@pytest.mark.usefixtures("holdings")
def test_json_answer_tells_nothing_of_other_documents(client, session, document):
    turn = start_turn(session, "年假多少天？")

    ending = finish_turn(turn, finished_transcript(sources=sources_of(document)))

    listed = client.get(f"/api/v1/sessions/{session.id}/messages").json()["items"]
    assert ending == AnswerSaved(turn.message_id, "answered")
    assert [message.get("notes") for message in listed] == [None, None]


def test_json_refusal_over_indexed_documents_has_no_note(client, session, document):
    turn = refused_turn(session)
    listed = client.get(f"/api/v1/sessions/{session.id}/messages").json()["items"]
    assert ending_of(turn.message_id) == AnswerSaved(turn.message_id, "insufficient_evidence")
    assert [message.get("notes") for message in listed] == [None, None]


def test_note_of_unsearched_documents_names_only_what_there_is():
    with translation.override("en"):
        assert [
            UnsearchedNote(failed_documents=1, unfinished_documents=0).message,
            UnsearchedNote(failed_documents=0, unfinished_documents=2).message,
        ] == [
            "Indexing failed for 1 document, so it cannot be searched.",
            "2 documents are being indexed. You can ask as soon as they are done.",
        ]
