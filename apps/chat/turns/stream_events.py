"""What a stream of one run carries: the flow's events, then exactly one event that ends it.

The flow's `RunFinished` says that the answer is whole; `AnswerSaved` says that it is in the
database. Only the latter may be shown as "done" (003 §10, step 10), so encoders render nothing for
the former.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from apps.agents.events import Outcome, RunEvent

if TYPE_CHECKING:
    from uuid import UUID

    from apps.chat.turns.notes import Note


@dataclass(frozen=True, slots=True)
class AnswerSaved:
    """The answer and its sources are stored; the stream ends."""

    message_id: UUID
    outcome: Outcome
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerFailed:
    """The run ended without an answer; what was written so far is kept in the failed message.

    `message` is a sentence for the person; `retryable` says whether asking again may help.
    """

    message_id: UUID
    code: str
    message: str
    retryable: bool


StreamEvent = RunEvent | AnswerSaved | AnswerFailed


@dataclass(frozen=True, slots=True)
class NumberedEvent:
    """An event with its number in the run: 1, 2, 3, …; a stream resumes behind a number."""

    number: int
    event: StreamEvent


def ends_stream(event: StreamEvent) -> bool:
    """Whether nothing follows `event`."""
    return isinstance(event, AnswerSaved | AnswerFailed)
