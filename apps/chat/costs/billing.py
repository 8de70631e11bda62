"""What messages and sessions cost: the sums of their model calls, never a figure of their own.

Everything is computed from the rows of the calls, so that booking twice changes nothing. The
embedded models cost 0; a call without a price costs NULL and is counted, never booked as 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Count, F, Q, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from apps.chat.models import (
    AgentChatMessage,
    AgentChatSession,
    CallStatus,
    MessageRole,
    ModelCall,
)
from apps.llm.pricing.charges import least_certain

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID


def book_run(session_id: UUID, run_id: UUID) -> None:
    """Set what the messages of an ended run cost to the sums of their calls, then the session.

    Call it in the transaction that ends the run. A call that is still running belongs to a process
    that died or gave up: it failed, and its estimate is charged.
    """
    calls = ModelCall.objects.filter(run_id=run_id)
    calls.filter(status=CallStatus.RUNNING).update(status=CallStatus.FAILED)
    by_message: dict[UUID, list[ModelCall]] = {}
    for call in calls:
        by_message.setdefault(call.message_id, []).append(call)
    for message in AgentChatMessage.objects.filter(id__in=by_message):
        _book(message, by_message[message.id])
    settle_session(session_id)


def settle_session(session_id: UUID) -> None:
    """Set the session's totals to the sums over its messages and note the activity.

    Call it in the transaction that changes the messages. Replaced messages keep counting in the
    costs and no longer in the number of messages, which speaks of questions and answers only.
    """
    sums = AgentChatMessage.objects.filter(session_id=session_id).aggregate(
        message_count=Count(
            "id",
            filter=Q(
                seq__gt=0,
                deleted_at=None,
                role__in=[MessageRole.USER, MessageRole.ASSISTANT],
            ),
        ),
        total_tokens=Coalesce(Sum(F("input_tokens") + F("output_tokens")), 0),
        total_cost=Coalesce(Sum("cost"), 0),
    )
    now = timezone.now()
    AgentChatSession.objects.filter(id=session_id).update(
        **sums,
        unpriced_calls=ModelCall.objects.filter(session_id=session_id, cost=None)
        .exclude(status=CallStatus.RUNNING)
        .count(),
        last_activity_at=now,
        updated_at=now,
    )


def _book(message: AgentChatMessage, calls: Sequence[ModelCall]) -> None:
    priced = [call.cost for call in calls if call.cost is not None]
    message.input_tokens = sum(call.input_tokens for call in calls)
    message.output_tokens = sum(call.output_tokens for call in calls)
    message.cost = sum(priced) if priced else None
    if message.deleted_at is None:
        source = least_certain(call.cost_source for call in calls)
        message.metadata = {**message.metadata, "cost_source": source}
    message.save(update_fields=["input_tokens", "output_tokens", "cost", "metadata"])
