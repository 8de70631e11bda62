"""The JSON form of a stream (003 §11 and issue 2): status, sources, token, done, error.

Everything else that happens in a run (stages' results, tools, usage) is not part of this contract.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.agents.events import AnswerStarted, SourcesFound, StageStarted, TokenProduced
from apps.chat.api_schemas import SourceOut
from apps.chat.turns.stream_events import AnswerFailed, AnswerSaved
from apps.core.web.sse import json_frame

if TYPE_CHECKING:
    from apps.chat.turns.stream_events import NumberedEvent, StreamEvent

Named = tuple[str, dict[str, object]]


def encode(numbered: NumberedEvent) -> bytes:
    """Return the event's frame with its number as id; nothing for an event without a form."""
    named = _named(numbered.event)
    if named is None:
        return b""
    name, data = named
    return json_frame(name, data, event_id=numbered.number)


def _named(event: StreamEvent) -> Named | None:
    match event:
        case TokenProduced(text=text):
            return ("token", {"content": text}) if text else None
        case StageStarted(stage="execution"):
            return "status", {"phase": "researching"}
        case SourcesFound(sources=sources):
            forms = [SourceOut.of(source).model_dump(mode="json") for source in sources]
            return "sources", {"sources": forms}
        case AnswerStarted():
            return "status", {"phase": "answering"}
        case AnswerSaved():
            return "done", _done(event)
        case AnswerFailed(message_id, code, message, retryable):
            data = {"code": code, "message": message, "retryable": retryable}
            return "error", data | {"message_id": str(message_id)}
    return None


def _done(event: AnswerSaved) -> dict[str, object]:
    notes = [note.model_dump() for note in event.notes]
    data = {"message_id": str(event.message_id), "outcome": event.outcome}
    return data | ({"notes": notes} if notes else {})
