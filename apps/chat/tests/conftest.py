"""Rows that the chat tests share."""

from __future__ import annotations

import uuid

import pytest

from apps.accounts.local_user import local_user
from apps.agents.events import RunFinished, TokenProduced
from apps.chat.models import AgentChatSession
from apps.chat.transcript import Transcript
from apps.core.passages import Passage, Source
from apps.documents.models import Chunk, Document, DocumentStatus


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


def finished_transcript(text="十五天。[S1]", sources=(), outcome="answered", before=()):
    transcript = Transcript()
    for event in before:
        transcript.add(event)
    transcript.add(TokenProduced(text))
    transcript.add(RunFinished(outcome, text, sources, "extractive", ("S1",) if sources else ()))
    transcript.sources = sources
    return transcript
