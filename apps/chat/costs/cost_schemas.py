"""The JSON forms of costs. Money is a string in yuan with six places, null when unpriced.

The forms read the attributes of rows and sums, whose money is in micro-yuan.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated

from ninja import Schema
from pydantic import BaseModel, ConfigDict, Field, PlainSerializer

from apps.core.fields import yuan

Yuan = Annotated[int, PlainSerializer(lambda micro: str(yuan(micro)), return_type=str)]


class Row(BaseModel):
    """A form that is read from an object; no Ninja Schema, which would read itself once more."""

    model_config = ConfigDict(from_attributes=True)


class CallOut(Row):
    """One call to a model; a running one shows an estimate."""

    stage: str
    agent: str
    kind: str
    model: str = Field(validation_alias="model_code")
    status: str
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    cost: Yuan | None
    cost_source: str
    price_version: str | None
    latency_ms: int | None
    first_token_ms: int | None
    started_at: datetime


class SessionCostsOut(Schema):
    """A session's totals and its calls, in the order in which they began."""

    currency: str
    total_cost: Yuan
    total_tokens: int
    unpriced_calls: int
    calls: list[CallOut]


class CostSumOut(Row):
    """The calls of one day, model, stage or session together."""

    key: str
    calls: int = Field(validation_alias="call_count")
    input_tokens: int = Field(validation_alias="input_sum")
    cached_tokens: int = Field(validation_alias="cached_sum")
    output_tokens: int = Field(validation_alias="output_sum")
    cost: Yuan | None = Field(validation_alias="cost_sum")
    unpriced_calls: int = Field(validation_alias="unpriced_count")


class CostsOut(Schema):
    """Sums by `group_by`. Days are those of `time_zone`, `from` and `to` included."""

    currency: str
    group_by: str
    time_zone: str
    first_day: date | None = Field(None, serialization_alias="from")
    last_day: date | None = Field(None, serialization_alias="to")
    total_cost: Yuan
    total_tokens: int
    unpriced_calls: int
    items: list[CostSumOut]
