"""The JSON forms of costs. Money is a string in yuan with six places, null when unpriced."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Self

from ninja import Schema
from pydantic import Field

from apps.core.fields import yuan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apps.chat.costs.reports import CostSum
    from apps.chat.models import AgentChatSession, ModelCall


class CallOut(Schema):
    """One call to a model; a running one shows an estimate."""

    stage: str
    agent: str
    kind: str
    model: str
    status: str
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    cost: str | None
    cost_source: str
    price_version: str | None
    latency_ms: int | None
    first_token_ms: int | None
    started_at: datetime

    @classmethod
    def of(cls, call: ModelCall) -> Self:
        """Return the form of a call."""
        return cls(
            stage=call.stage,
            agent=call.agent,
            kind=call.kind,
            model=call.model_code,
            status=call.status,
            input_tokens=call.input_tokens,
            cached_tokens=call.cached_tokens,
            output_tokens=call.output_tokens,
            cost=_money(call.cost),
            cost_source=call.cost_source,
            price_version=call.price_version,
            latency_ms=call.latency_ms,
            first_token_ms=call.first_token_ms,
            started_at=call.started_at,
        )


class SessionCostsOut(Schema):
    """A session's totals and its calls, in the order in which they began."""

    currency: str
    total_cost: str
    total_tokens: int
    unpriced_calls: int
    calls: list[CallOut]

    @classmethod
    def of(cls, session: AgentChatSession, calls: Sequence[ModelCall]) -> Self:
        """Return the form of a session and its calls."""
        return cls(
            currency=session.billing_currency,
            total_cost=str(yuan(session.total_cost)),
            total_tokens=session.total_tokens,
            unpriced_calls=session.unpriced_calls,
            calls=[CallOut.of(call) for call in calls],
        )


class CostSumOut(Schema):
    """The calls of one day, model, stage or session together."""

    key: str
    calls: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    cost: str | None
    unpriced_calls: int


class CostsOut(Schema):
    """Sums by `group_by`. Days are those of `time_zone`, `from` and `to` included."""

    currency: str
    group_by: str
    time_zone: str
    first_day: date | None = Field(None, serialization_alias="from")
    last_day: date | None = Field(None, serialization_alias="to")
    total_cost: str
    total_tokens: int
    unpriced_calls: int
    items: list[CostSumOut]


def cost_items(sums: Sequence[CostSum]) -> list[CostSumOut]:
    """Return the forms of sums."""
    return [
        CostSumOut(
            key=entry.key,
            calls=entry.call_count,
            input_tokens=entry.input_sum,
            cached_tokens=entry.cached_sum,
            output_tokens=entry.output_sum,
            cost=_money(entry.cost_sum),
            unpriced_calls=entry.unpriced_count,
        )
        for entry in sums
    ]


def _money(micro: int | None) -> str | None:
    return None if micro is None else str(yuan(micro))
