"""What a model did not get of a too long prompt is told under the answer, live and later."""

from __future__ import annotations

import asyncio
import json
import uuid

import pytest
from asgiref.sync import sync_to_async
from django.urls import reverse
from django.utils import translation

from apps.accounts.local_user import local_user
from apps.agents.events import ContextTrimmed
from apps.chat.models import AgentChatMessage
from apps.chat.sessions import ImportedMessage, create_session
from apps.chat.streams.json_sse import encode
from apps.chat.tests.conftest import finished_transcript, sources_of
from apps.chat.turns.endings import fail_turn, finish_turn
from apps.chat.turns.notes import TrimNote
from apps.chat.turns.start import start_turn
from apps.chat.turns.stream_events import AnswerSaved, NumberedEvent
from apps.chat.turns.transcript import Transcript
from apps.llm.errors import ContextTooLongError
from kbqa_project import env
from tests.fault_server import FaultServer
from tests.prompt_limit import PromptLimit

TRIMS = [
    ContextTrimmed("intent", 4, 0),
    ContextTrimmed("intent", 6, 0),
    ContextTrimmed("execution", 0, 5),
    ContextTrimmed("organization", 6, 2, ("S1", "S3")),
]
NOTE = TrimNote(history_messages=6, sources=5)
TEXT = "较早的 6 条消息和 5 个来源没有交给模型：超出模型的上下文长度"
DATA = {"code": "CONTEXT_TRIMMED", "history_messages": 6, "sources": 5, "message": TEXT}


@pytest.mark.parametrize(
    ("note", "chinese", "english"),
    [
        (NOTE, TEXT, "6 earlier messages and 5 sources"),
        (
            TrimNote(history_messages=1, sources=0),
            "较早的 1 条消息没有交给模型：超出模型的上下文长度",
            "1 earlier message",
        ),
        (
            TrimNote(history_messages=0, sources=1),
            "1 个来源没有交给模型：超出模型的上下文长度",
            "1 source",
        ),
    ],
)
def test_note_names_only_what_is_missing(note, chinese, english):
    with translation.override("zh-hans"):
        assert note.message == chinese
    with translation.override("en"):
        told = f"Not given to the model, whose context is too short: {english}"
        assert note.message == told


def test_done_carries_notes_only_when_there_are_some():
    message_id = uuid.UUID(int=5)
    done = {"message_id": str(message_id), "outcome": "answered", "notes": [DATA]}
    frame = encode(NumberedEvent(7, AnswerSaved(message_id, "answered", (NOTE,))))
    data = json.dumps(done, ensure_ascii=False)
    assert frame == f"id: 7\nevent: done\ndata: {data}\n\n".encode()
    assert encode(NumberedEvent(7, TRIMS[0])) == b""


@pytest.mark.django_db
def test_answer_keeps_what_each_stage_went_without(session, document):
    turn = start_turn(session, "年假多少天？")
    transcript = finished_transcript(sources=sources_of(document), before=TRIMS)
    assert finish_turn(turn, transcript) == AnswerSaved(turn.message_id, "answered", (NOTE,))
    assert AgentChatMessage.objects.get(id=turn.message_id).metadata == {
        "type": "assistant_output",
        "imported": False,
        "outcome": "answered",
        "cited_labels": ["S1"],
        "interrupted": False,
        "trimmed": [
            {"stage": "intent", "history_messages": 6, "sources": 0},
            {"stage": "execution", "history_messages": 0, "sources": 5},
            {"stage": "organization", "history_messages": 6, "sources": 2},
        ],
    }


@pytest.mark.django_db
def test_failed_answer_keeps_its_note(session):
    turn = start_turn(session, "年假多少天？")
    transcript = Transcript()
    transcript.add(TRIMS[0])
    fail_turn(turn, ContextTooLongError(), transcript)
    failed = AgentChatMessage.objects.get(id=turn.message_id)
    assert (failed.error_code, failed.metadata["trimmed"]) == (
        "CONTEXT_TOO_LONG",
        [{"stage": "intent", "history_messages": 4, "sources": 0}],
    )


@pytest.mark.django_db
def test_page_and_api_show_the_note_of_a_stored_answer(client, session, document):
    turn = start_turn(session, "年假多少天？")
    finish_turn(turn, finished_transcript(sources=sources_of(document), before=TRIMS))
    finish_turn(start_turn(session, "年假多少天？"), finished_transcript())
    page = client.get(reverse("chat:session", args=[session.id])).content.decode()
    assert page.count(f'<p class="quiet note">{TEXT}</p>') == 1
    listed = client.get(f"/api/v1/sessions/{session.id}/messages").json()["items"]
    assert [message.get("notes") for message in listed] == [None, [DATA], None, None]


@pytest.mark.django_db(transaction=True)
async def test_long_conversation_is_answered_with_a_note(async_client, settings):
    with FaultServer(limit=PromptLimit(2000)) as server:
        settings.ENV = env.load(
            chat_api_key="sk-secret-1234",
            chat_base_url=server.base_url,
            data_dir=settings.ENV.data_dir,
        )
        session = await sync_to_async(_long_session)()
        asked = {"session_id": str(session.id), "query": "年假多少天？"}
        response = await async_client.post(
            "/api/v1/chat/stream", asked, content_type="application/json"
        )
        body = b"".join([part async for part in response.streaming_content]).decode()
    done = json.loads(body.rpartition("event: done\ndata: ")[2])
    told = "较早的 4 条消息没有交给模型：超出模型的上下文长度"
    note = {"code": "CONTEXT_TRIMMED", "message": told, "history_messages": 4, "sources": 0}
    answer = await session.messages.aget(id=done["message_id"])
    assert (done["outcome"], done["notes"]) == ("insufficient_evidence", [note])
    intents = session.model_calls.filter(stage="intent").order_by("started_at")
    statuses = await asyncio.to_thread(lambda: list(intents.values_list("status", flat=True)))
    assert (answer.status, statuses) == ("completed", ["failed", "failed", "completed"])
    page = await async_client.get(f"/chat/{session.id}/stream?run={answer.run_id}")
    final = b"".join([part async for part in page.streaming_content]).decode()
    assert f'<p class="quiet note">{told}</p>' in final


def _long_session():
    roles = ["user", "assistant"] * 2
    messages = [ImportedMessage(role, str(n) * 3000) for n, role in enumerate(roles)]
    return create_session(local_user(), messages=messages)
