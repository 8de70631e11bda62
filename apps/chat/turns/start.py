"""Storing a question and the placeholder of its answer; how a turn ends is in `endings`.

One transaction per verb; no model or network call happens here.
"""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, Max, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from apps.chat.errors import NothingToResendError, RunInProgressError, RunInterruptedError
from apps.chat.models import (
    AgentChatMessage,
    AgentChatSession,
    MessageRole,
    MessageStatus,
    SessionStatus,
)
from apps.chat.turns.endings import fail_turn, snapshot_of
from apps.chat.turns.metadata import UserInput
from apps.chat.turns.questions import clean_question, title_of
from apps.chat.turns.turn import StartedTurn
from apps.core.errors import NotFoundError

if TYPE_CHECKING:
    from uuid import UUID

STALE_MARGIN_S = 60  # a placeholder older than the run time-out plus this belongs to no live run


def start_turn(session: AgentChatSession, question: str) -> StartedTurn:
    """Store the question and the answer's placeholder, in one transaction.

    Raises:
        EmptyQuestionError, QuestionTooLongError: nothing is stored.
        RunInProgressError: the session already answers a question.
        NotFoundError: the session was deleted meanwhile.
    """
    text = clean_question(question, max_chars=settings.ENV.max_question_chars)
    return _start(session.id, text, replaced_id=None)


def resend_turn(session: AgentChatSession, message_id: UUID) -> StartedTurn:
    """Ask the question of a failed answer again.

    In the last turn the new answer takes the failed one's place: the failed one is hidden, but
    kept for the audit and its costs. An older question is asked anew at the end.

    Raises:
        NothingToResendError: the message is no failed answer, or its question is gone.
        RunInProgressError, NotFoundError: as in `start_turn`.
    """
    conversation = session.messages.conversation()
    failed = conversation.filter(
        id=message_id, role=MessageRole.ASSISTANT, status=MessageStatus.FAILED
    ).first()
    if failed is None:
        raise NothingToResendError
    question = conversation.filter(role=MessageRole.USER, seq__lt=failed.seq).last()
    if question is None:
        raise NothingToResendError
    is_last = not conversation.filter(seq__gt=failed.seq).exists()
    return _start(session.id, question.content, replaced_id=failed.id if is_last else None)


def _start(session_id: UUID, text: str, *, replaced_id: UUID | None) -> StartedTurn:
    try:
        return _insert_turn(session_id, text, replaced_id)
    except IntegrityError as error:
        if not AgentChatMessage.objects.generating().filter(session_id=session_id).exists():
            raise
        if not _end_stale_run(session_id):
            raise RunInProgressError from error
    return _insert_turn(session_id, text, replaced_id)


@transaction.atomic
def _insert_turn(session_id: UUID, text: str, replaced_id: UUID | None) -> StartedTurn:
    session = AgentChatSession.objects.filter(id=session_id, deleted_at=None).first()
    if session is None:
        raise NotFoundError
    last = session.messages.filter(seq__gt=0).aggregate(seq=Max("seq"))["seq"] or 0
    run_id = uuid.uuid4()
    if replaced_id is None:
        last += 1
        question = _add_question(session, run_id, text, seq=last)
    else:
        question = _replace_answer(session, replaced_id)
    answer = session.messages.create(
        seq=last + 1,
        run_id=run_id,
        role=MessageRole.ASSISTANT,
        status=MessageStatus.GENERATING,
        currency=session.billing_currency,
    )
    turn = StartedTurn(session_id, run_id, question.id, answer.id, session.user_id, text)
    # A new turn costs nothing yet: of the totals only the number of messages changes.
    _note_start(turn, added_messages=0 if replaced_id else 2)
    return turn


def _note_start(turn: StartedTurn, *, added_messages: int) -> None:
    now = timezone.now()
    AgentChatSession.objects.filter(id=turn.session_id).update(
        title=Coalesce("title", Value(title_of(turn.question) or None)),
        status=SessionStatus.RUNNING,
        state_snapshot=snapshot_of(turn, SessionStatus.RUNNING),
        error_id=None,
        message_count=F("message_count") + added_messages,
        last_activity_at=now,
        updated_at=now,
    )


def _add_question(
    session: AgentChatSession, run_id: UUID, text: str, *, seq: int
) -> AgentChatMessage:
    return session.messages.create(
        seq=seq,
        run_id=run_id,
        role=MessageRole.USER,
        content=text,
        currency=session.billing_currency,
        metadata=UserInput().model_dump(mode="json"),
    )


def _replace_answer(session: AgentChatSession, failed_id: UUID) -> AgentChatMessage:
    """Hide the failed answer with its tool messages; return its question."""
    failed = session.messages.get(id=failed_id)
    question = session.messages.visible().filter(role=MessageRole.USER, seq__lt=failed.seq).last()
    if question is None:
        raise NothingToResendError
    session.messages.filter(seq__gt=question.seq, seq__lte=failed.seq).update(
        deleted_at=timezone.now()
    )
    return question


def _end_stale_run(session_id: UUID) -> bool:
    """Fail a placeholder whose process died without a restart that would have recovered it."""
    limit_s = settings.ENV.run_timeout_s + STALE_MARGIN_S
    stale = AgentChatMessage.objects.generating().filter(
        session_id=session_id, created_at__lt=timezone.now() - timedelta(seconds=limit_s)
    )
    message = stale.select_related("session").first()
    if message is None:
        return False
    fail_turn(StartedTurn.of(message), RunInterruptedError())
    return True
