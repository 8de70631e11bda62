"""Rows that the chat tests share."""

from __future__ import annotations

import uuid

import pytest

from apps.accounts.local_user import local_user
from apps.agents.events import RunFinished, TokenProduced
from apps.chat.costs.call_ledger import CallLedger
from apps.chat.models import AgentChatSession
from apps.chat.turns.transcript import Transcript
from apps.core.passages import Passage, Source
from apps.documents.models import Chunk, Document, DocumentStatus
from apps.llm.calls import CallBegun, CallEnded, CallTarget
from apps.llm.pricing.charges import Usage


@pytest.fixture
def user():
    return local_user()


@pytest.fixture
def session(user):
    return AgentChatSession.objects.create(user=user)


@pytest.fixture
def document(user):
    return make_document(user, "手册.md", ["年假十五天。", "停车证每年三月更新。"])


def make_document(owner, filename, contents):
    document = Document.objects.create(
        owner=owner,
        filename=filename,
        file_type="md",
        mime_type="text/markdown",
        file_size=100,
        sha256="0" * 64,
        status=DocumentStatus.INDEXED,
        chunk_count=len(contents),
    )
    Chunk.objects.bulk_create(
        Chunk(
            id=uuid.uuid4(),
            document=document,
            order_index=index,
            content=content,
            page_number=None,
            start_char=0,
            end_char=len(content),
            char_count=len(content),
        )
        for index, content in enumerate(contents)
    )
    return document


def sources_of(document, score=0.9):
    return tuple(
        Source(
            label=f"S{number}",
            passage=Passage(
                chunk_id=chunk.id,
                document_id=document.id,
                filename=document.filename,
                order_index=chunk.order_index,
                page_number=chunk.page_number,
                start_char=chunk.start_char,
                end_char=chunk.end_char,
                heading_path=chunk.heading_path,
                content=chunk.content,
                score=score,
            ),
            query="年假多少天",
        )
        for number, chunk in enumerate(document.chunks.order_by("order_index"), start=1)
    )


def ledger_of(turn):
    return CallLedger(session_id=turn.session_id, run_id=turn.run_id, message_id=turn.message_id)


def begin_call(ledger, model="qwen3.5-flash", *, vendor="qwen", stage="organization", **more):
    """Begin a call of about 10 input tokens."""
    kind = more.pop("kind", "chat")
    call = CallBegun(
        CallTarget(kind, vendor, model),
        stage,
        "main_agent",
        more.pop("tool_call_id", None),
        estimated_input_tokens=10,
        **more,
    )
    ledger.begin(call)
    return call


def end_call(ledger, call, usage, status="completed"):
    ledger.end(CallEnded(call, status, usage, latency_ms=3, first_token_ms=1, raw_usage={"n": 1}))


def make_call(ledger, *tokens, model="qwen3.5-flash", **more):
    """Begin and end a call that consumed so many input, output and cached tokens."""
    end_call(ledger, begin_call(ledger, model, **more), Usage(*tokens))


def finished_transcript(
    text="十五天。[S1]", sources=(), outcome="answered", before=(), ledger=None
):
    transcript = Transcript(ledger=ledger)
    for event in before:
        transcript.add(event)
    transcript.add(TokenProduced(text))
    transcript.add(RunFinished(outcome, text, sources, "extractive", ("S1",) if sources else ()))
    transcript.sources = sources
    return transcript
