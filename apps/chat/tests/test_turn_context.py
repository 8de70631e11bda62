"""What a question brings along: the conversation, and the chunks that its answers cite."""

from __future__ import annotations

import pytest

from apps.agents.events import Turn
from apps.chat.errors import RunStoppedError
from apps.chat.tests.conftest import finished_transcript, sources_of
from apps.chat.turns.endings import fail_turn, finish_turn
from apps.chat.turns.start import start_turn
from apps.chat.turns.turn import turn_context
from apps.documents.models import Document

pytestmark = pytest.mark.django_db


def answered(session, question, sources=()):
    finish_turn(start_turn(session, question), finished_transcript(sources=sources))


def test_context_has_the_completed_messages_and_what_they_cite(session, user, document):
    sources = sources_of(document)
    answered(session, "年假多少天？", sources)
    answered(session, "真的吗？", sources)
    fail_turn(start_turn(session, "失败的问题"), RunStoppedError())
    context = turn_context(start_turn(session, "那病假呢？"))
    assert context.history == [
        Turn("user", "年假多少天？"),
        Turn("assistant", "十五天。[S1]"),
        Turn("user", "真的吗？"),
        Turn("assistant", "十五天。[S1]"),
        Turn("user", "失败的问题"),
    ]
    assert context.cited == [sources[0].passage.chunk_id]  # S2 was found and not cited
    assert (context.owner, context.person.user_id) == (user, user.id)


def test_context_forgets_the_chunks_of_a_deleted_document(session, document):
    answered(session, "年假多少天？", sources_of(document))
    Document.objects.all().delete()
    assert turn_context(start_turn(session, "那病假呢？")).cited == []


def test_context_reads_no_further_than_the_history(session, document, settings):
    answered(session, "年假多少天？", sources_of(document))
    settings.ENV = settings.ENV.model_copy(update={"history_message_limit": 0})
    context = turn_context(start_turn(session, "那病假呢？"))
    assert (context.history, context.cited) == ([], [])
