"""The JSON forms of sessions and messages (003 §12.2): what comes in and what goes out.

What comes in is no Ninja Schema, since those also accept a list or a number whose fields all have
defaults.
"""

from __future__ import annotations

import operator
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal, Self
from uuid import UUID

from ninja import Schema
from pydantic import BaseModel, BeforeValidator, Field

from apps.chat.costs.cost_schemas import Row, Yuan
from apps.chat.models import MessageRole
from apps.chat.sessions import MAX_IMPORTED_MESSAGES
from apps.chat.turns.metadata import AssistantOutput
from apps.chat.turns.notes import Note
from apps.core.text.cleaning import clean_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apps.chat.models import AgentChatMessage
    from apps.core.passages import Source


def _clean(value: object) -> object:
    """Clean before the type check, which refuses lone surrogates in words nobody understands."""
    return clean_text(value) if isinstance(value, str) else value


CleanText = Annotated[str, BeforeValidator(_clean)]


class MessageIn(BaseModel):
    """A message of a conversation that is carried over."""

    role: Literal["user", "assistant"]
    content: CleanText


class SessionIn(BaseModel):
    """A new session."""

    title: CleanText | None = None
    messages: Annotated[list[MessageIn], Field(max_length=MAX_IMPORTED_MESSAGES)] = []


class SessionPatch(BaseModel):
    """A new name."""

    title: CleanText


class QuestionIn(BaseModel):
    """A question to a session."""

    session_id: UUID
    query: CleanText


class SessionOut(Row):
    """A session; `title` is null until the first question, `total_cost` is in `currency`."""

    id: UUID
    title: str | None
    status: str
    message_count: int
    total_tokens: int
    total_cost: Yuan
    unpriced_calls: int
    currency: str = Field(validation_alias="billing_currency")
    created_at: datetime
    updated_at: datetime
    last_activity_at: datetime


class SessionPage(Schema):
    """A part of the sessions; `count` is the number of all."""

    items: list[SessionOut]
    count: int


class SourceOut(Schema):
    """A source that still exists; `page_number` is null for formats without pages."""

    label: str
    document_id: UUID
    chunk_id: UUID
    filename: str
    order_index: int
    page_number: int | None
    start_char: int
    end_char: int
    content: str
    score: float

    @classmethod
    def of(cls, source: Source) -> Self:
        """Return the form of a source."""
        return cls.model_validate({"label": source.label, **asdict(source.passage)})


class MessageOut(Row):
    """A visible message. A label in `content` without an entry in `sources` was deleted.

    `cost` is null when no call has a price. `cost_source` is null where nothing was called, and
    unpriced or estimated when the cost is so at least in part. `outcome` is set on completed
    answers, `interrupted` on failed ones, whose `content` is what was written until then. `notes`
    is there only when there are some.
    """

    id: UUID
    session_id: UUID
    order_index: int = Field(validation_alias="seq")
    role: str
    status: str
    error_code: str | None
    content: str
    outcome: str | None = None
    interrupted: bool = False
    model_code: str | None
    tool_name: str | None
    input_tokens: int
    output_tokens: int
    cost: Yuan | None
    cost_source: str | None = None
    currency: str
    latency_ms: int | None
    created_at: datetime
    sources: list[SourceOut]
    notes: list[Note] = Field(exclude_if=operator.not_)

    @classmethod
    def of(cls, message: AgentChatMessage, refused: Sequence[Note] = ()) -> Self:
        """Return the form of a message whose sources are loaded; `refused` is for refusals."""
        is_answer = message.role == MessageRole.ASSISTANT
        facts = AssistantOutput.model_validate(message.metadata if is_answer else {})
        told = refused if facts.outcome == "insufficient_evidence" else ()
        sources = [SourceOut.of(row.found) for row in message.sources.all()]
        more = {"sources": sources, "notes": [*facts.notes, *told]}
        return cls.model_validate({**message.metadata, **vars(message), **more})


class MessagePage(Schema):
    """A part of a session's messages; `count` is the number of all."""

    items: list[MessageOut]
    count: int


class StopOut(Schema):
    """Whether there was an answer to stop."""

    stopped: bool


class ErrorFacts(Schema):
    """003 §14."""

    code: str
    message: str
    request_id: str


class ErrorOut(Schema):
    """The body of every refusal."""

    error: ErrorFacts
