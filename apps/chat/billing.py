"""What an answer costs, and the totals of its session.

The embedded models cost nothing. Calls to other models are marked unpriced (cost NULL) here: a
price table turns them into amounts; an unknown price is flagged, never booked as 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings
from django.db.models import Count, F, Q, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from apps.chat.models import AgentChatMessage, AgentChatSession, MessageRole

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from apps.agents.events import UsageReported
    from apps.chat.metadata import CostSource


@dataclass(frozen=True, slots=True)
class Charge:
    """The sum of a run's model calls; `cost` is in micro-yuan and None when a price is unknown."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: int | None = 0
    cost_source: CostSource | None = None
    unpriced_calls: int = 0


def charge_of(calls: Sequence[UsageReported]) -> Charge:
    """Return what the calls of one run cost together."""
    if not calls:
        return Charge()
    is_embedded = settings.ENV.chat_endpoint is None
    return Charge(
        input_tokens=sum(call.input_tokens for call in calls),
        output_tokens=sum(call.output_tokens for call in calls),
        cost=0 if is_embedded else None,
        cost_source="embedded" if is_embedded else "unpriced",
        unpriced_calls=0 if is_embedded else len(calls),
    )


def settle_session(session_id: UUID, *, unpriced_calls: int = 0) -> None:
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
        unpriced_calls=F("unpriced_calls") + unpriced_calls,
        last_activity_at=now,
        updated_at=now,
    )
