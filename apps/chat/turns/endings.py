"""How a turn ends: exactly once, as an answer or as a failure, with everything in one transaction.

The status changes by a conditional update, so that of two that end the same run (Stop and the last
token, a deletion and a time-out) one succeeds and the other sees what happened.
"""

from __future__ import annotations

import logging
import uuid
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Min
from django.utils import timezone

from apps.chat.costs.billing import book_run
from apps.chat.errors import RunInterruptedError, SessionDeletedError
from apps.chat.models import (
    MODEL_CODE_MAX_CHARS,
    AgentChatMessage,
    AgentChatSession,
    CallStatus,
    MessageSource,
    MessageStatus,
    ModelCall,
    SessionStatus,
)
from apps.chat.turns.metadata import AssistantOutput, FailureFacts
from apps.chat.turns.notes import refusal_notes
from apps.chat.turns.stream_events import AnswerFailed, AnswerSaved
from apps.chat.turns.transcript import Transcript
from apps.chat.turns.turn import StartedTurn
from apps.core.text.cleaning import clean_text
from apps.documents.models import Chunk, DocumentStatus

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from apps.chat.turns.notes import Note
    from apps.chat.turns.transcript import SideMessage
    from apps.core.errors import AppError

logger = logging.getLogger(__name__)

TOOL_NAME_MAX_CHARS = 100

Ending = AnswerSaved | AnswerFailed


def finish_turn(turn: StartedTurn, transcript: Transcript) -> Ending:
    """Store a whole answer with its sources, tool messages, costs and state.

    Returns what the run ended in: a failure when somebody else ended it meanwhile.

    Raises:
        ValueError: the transcript is not finished.
    """
    finished = transcript.finished
    if finished is None:
        raise ValueError("only a finished transcript can be stored as an answer")
    facts = AssistantOutput(
        outcome=finished.outcome,
        cited_labels=list(finished.cited_labels),
        trimmed=transcript.trimmed,
    )
    with transaction.atomic():
        if _end(turn, transcript, facts, content=clean_text(finished.text)):
            _store_sources(turn, transcript)
            set_state(turn, SessionStatus.COMPLETED, outcome=finished.outcome)
    return ending_of(turn.message_id)


def fail_turn(turn: StartedTurn, error: AppError, transcript: Transcript | None = None) -> Ending:
    """End the run without an answer; what was written so far is kept in the failed message.

    Without a transcript the placeholder keeps the text that `save_partial` put there. Returns what
    the run ended in: an answer when it was stored just before.
    """
    failure = FailureFacts(message=error.text, retryable=error.retryable)
    facts = AssistantOutput(interrupted=True, error=failure)
    content = None
    if transcript is not None:
        facts.trimmed = transcript.trimmed
        content = clean_text(transcript.text)
    error_id = uuid.uuid4()
    with transaction.atomic():
        failed = _end(turn, transcript or Transcript(), facts, content=content)
        if failed:
            AgentChatMessage.objects.filter(id=turn.message_id).update(error_code=error.code)
            set_state(turn, SessionStatus.FAILED, error_id=error_id, error_code=error.code)
    if failed:
        logger.warning("run %s failed: %s (error %s)", turn.run_id, error.code, error_id)
    return ending_of(turn.message_id)


def save_partial(turn: StartedTurn, text: str) -> None:
    """Keep what was written so far, for the case that this process dies."""
    AgentChatMessage.objects.generating().filter(id=turn.message_id).update(
        content=clean_text(text), updated_at=timezone.now()
    )


def recover_runs() -> int:
    """Fail the answers that a dead process left unfinished; return how many there were.

    Call it before the web process starts, when no run of it can be alive. Calls of runs that
    somebody ended (a deletion, say) before their process died are charged.
    """
    left_over = list(AgentChatMessage.objects.generating().select_related("session"))
    for message in left_over:
        fail_turn(StartedTurn.of(message), RunInterruptedError())
    running = ModelCall.objects.filter(status=CallStatus.RUNNING).order_by()
    for session_id, run_id in running.values_list("session_id", "run_id").distinct():
        with transaction.atomic():
            book_run(session_id, run_id)
    return len(left_over)


def ending_of(message_id: UUID) -> Ending:
    """Return the event that tells how an ended turn ended.

    Raises:
        ValueError: the message is still being written.
    """
    found = AgentChatMessage.objects.filter(id=message_id)
    message = found.select_related("session__user").first()
    if message is None or message.deleted_at is not None:
        gone = SessionDeletedError()
        return AnswerFailed(message_id, gone.code, gone.text, gone.retryable)
    if message.status == MessageStatus.GENERATING:
        raise ValueError(f"message {message_id} has not ended")
    facts = AssistantOutput.model_validate(message.metadata)
    if message.status == MessageStatus.COMPLETED:
        notes: tuple[Note, ...] = facts.notes
        if facts.outcome == "insufficient_evidence":
            notes += refusal_notes(message.session.user)
        return AnswerSaved(message_id, facts.outcome or "answered", notes)
    failure = facts.error or FailureFacts(message="", retryable=True)
    return AnswerFailed(message_id, message.error_code or "", failure.message, failure.retryable)


def set_state(
    turn: StartedTurn, status: SessionStatus, *, error_id: UUID | None = None, **facts: str
) -> None:
    """Set the session's status and the same in its snapshot (002: in one transaction)."""
    AgentChatSession.objects.filter(id=turn.session_id, deleted_at=None).update(
        status=status, state_snapshot=snapshot_of(turn, status, **facts), error_id=error_id
    )


def snapshot_of(turn: StartedTurn, status: SessionStatus, **facts: str) -> dict[str, str]:
    """Return what `state_snapshot` tells about a session's latest run."""
    return {
        "status": status.value,
        "run_id": str(turn.run_id),
        "message_id": str(turn.message_id),
        **facts,
    }


def _end(
    turn: StartedTurn, transcript: Transcript, facts: AssistantOutput, *, content: str | None
) -> bool:
    """Give the placeholder its last form behind the run's tool messages; False if it has ended.

    What somebody else ended (its session was deleted, say) is still charged for its calls.
    """
    placeholder = AgentChatMessage.objects.generating().filter(id=turn.message_id)
    message = placeholder.first()
    ledger = transcript.ledger
    if ledger is not None:
        ledger.close()
    if message is None:
        if ledger is not None:
            book_run(turn.session_id, turn.run_id)
        return False
    first_seq = message.seq
    message.seq = first_seq + len(transcript.tool_messages)
    message.status = MessageStatus.FAILED if facts.error else MessageStatus.COMPLETED
    message.content = message.content if content is None else content
    message.model_code = transcript.model and transcript.model[:MODEL_CODE_MAX_CHARS]
    message.latency_ms = None if content is None else transcript.latency_ms
    message.metadata = facts.model_dump(mode="json", exclude_none=True)
    message.save()
    tools = _store_side_messages(
        turn, transcript.tool_messages, first_seq, currency=message.currency
    )
    lowest = AgentChatMessage.objects.filter(session_id=turn.session_id, seq__lt=0).aggregate(
        lowest=Min("seq")
    )["lowest"]
    audit = list(reversed(transcript.stage_results))
    audits = _store_side_messages(
        turn, audit, (lowest or 0) - len(audit), currency=message.currency
    )
    _give_calls([*tools, *audits], transcript)
    book_run(turn.session_id, turn.run_id)
    return True


def _give_calls(side_messages: Sequence[AgentChatMessage], transcript: Transcript) -> None:
    """Move the calls that served a search to its result, or to the stage that discarded it."""
    if transcript.ledger is None:
        return
    for message in side_messages:
        facts = message.metadata
        served = (
            facts["call_id"] if facts["type"] == "tool_result" else facts.get("discarded_call_id")
        )
        calls = transcript.ledger.calls_for(str(served)) if served else []
        ModelCall.objects.filter(id__in=calls).update(message=message)


def _store_side_messages(
    turn: StartedTurn, side_messages: Sequence[SideMessage], first_seq: int, *, currency: str
) -> list[AgentChatMessage]:
    return AgentChatMessage.objects.bulk_create(
        AgentChatMessage(
            session_id=turn.session_id,
            seq=seq,
            run_id=turn.run_id,
            role=side.role,
            content=clean_text(side.content),
            tool_name=side.tool_name and side.tool_name[:TOOL_NAME_MAX_CHARS],
            currency=currency,
            metadata=side.metadata,
        )
        for seq, side in enumerate(side_messages, start=first_seq)
    )


def _store_sources(turn: StartedTurn, transcript: Transcript) -> None:
    """Store the sources whose chunks still exist: a document may have been deleted meanwhile."""
    found = {source.passage.chunk_id: source for source in transcript.sources}
    existing = (
        Chunk.objects.filter(id__in=found, document__owner_id=turn.user_id)
        .exclude(document__status=DocumentStatus.DELETING)
        .values_list("id", "document_id")
    )
    MessageSource.objects.bulk_create(
        MessageSource(
            message_id=turn.message_id,
            document_id=document_id,
            chunk_id=chunk_id,
            citation_label=found[chunk_id].label,
            score=found[chunk_id].passage.score,
            scope=f"user:{turn.user_id}",
            search_query=clean_text(found[chunk_id].query),
        )
        for chunk_id, document_id in existing
    )
