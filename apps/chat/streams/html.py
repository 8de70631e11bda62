"""A run's events as named page events with fragments, for htmx's SSE extension.

A token is only escaped text: it is encoded in the event loop and must stay cheap. The other events
may read the database and are encoded in a thread.
"""

from __future__ import annotations

import re
import uuid
from typing import TYPE_CHECKING

from django.template.loader import render_to_string
from django.utils.html import escape
from django.utils.translation import gettext as _

from apps.agents.events import (
    AnswerStarted,
    SourcesFound,
    StageStarted,
    TokenProduced,
    ToolCalled,
    ToolReturned,
)
from apps.chat.models import AgentChatSession
from apps.chat.pages.view_models import (
    SEARCH_TOOL,
    STAGES,
    MessageView,
    message_of,
    shown_query,
    source_view,
    sources_context,
    steps_at,
)
from apps.chat.turns.stream_events import AnswerFailed, AnswerSaved
from apps.documents.holdings import holdings_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apps.agents.events import Stage
    from apps.chat.turns.stream_events import StreamEvent
    from apps.chat.turns.turn import StartedTurn
    from apps.core.passages import Source
    from apps.documents.holdings import Holdings

PageEvent = tuple[str, str]
_LABEL = re.compile(r"\[S(\d{1,2})\]")  # the flow sends a label whole, never cut in two


def encode(event: StreamEvent, turn: StartedTurn) -> list[PageEvent]:
    """Return the page events (name, HTML) of one event of a run; none for what no page shows."""
    match event:
        case TokenProduced(text=text):
            return [("token", _LABEL.sub(r'<span class="cite">\1</span>', escape(text)))]
        case StageStarted(stage=stage) if stage != "organization":
            return [_stage(stage, turn)]
        case AnswerStarted():
            return [_stage("organization", turn)]
        case ToolCalled(name=name) if name == SEARCH_TOOL:
            return [_search(event, turn)]
        case ToolReturned(name=name) if name == SEARCH_TOOL:
            return [_hits(event, turn)]
        case SourcesFound(sources=sources):
            return [_sources(sources, turn)]
        case AnswerSaved() | AnswerFailed():
            return _final(turn)
    return []


def _stage(stage: Stage, turn: StartedTurn) -> PageEvent:
    # A stream that starts over must not append to what an earlier one brought.
    context = {
        "steps": steps_at(stage),
        "is_first": stage == STAGES[0],
        "message_id": turn.message_id,
    }
    return "stage", render_to_string("chat/message.html#stage", context)


def _search(event: ToolCalled, turn: StartedTurn) -> PageEvent:
    context = {
        "query": shown_query(str(event.arguments.get("query") or "")),
        "call_key": _call_key(event.call_id, turn),
    }
    return "search", render_to_string("chat/message.html#search", context)


def _hits(event: ToolReturned, turn: StartedTurn) -> PageEvent:
    context = {
        "hit_count": event.hit_count,
        "failed": event.error_code is not None,
        "call_key": _call_key(event.call_id, turn),
    }
    return "hits", render_to_string("chat/message.html#hits", context)


def _call_key(call_id: str, turn: StartedTurn) -> str:
    """Return an id that is safe in HTML and selectors: a model chooses `call_id` as it likes."""
    return uuid.uuid5(turn.message_id, call_id).hex


def _sources(sources: Sequence[Source], turn: StartedTurn) -> PageEvent:
    context = {
        "sources": [source_view(source) for source in sources],
        "message_id": turn.message_id,
        "is_unfinished": True,
    }
    return "sources", render_to_string("chat/sources.html", context)


def _final(turn: StartedTurn) -> list[PageEvent]:
    """Return the answer as it is stored, and its sources with what supports it marked."""
    kept = AgentChatSession.objects.filter(id=turn.session_id, deleted_at=None)
    session = kept.select_related("user").first()
    message = None if session is None else message_of(session, turn.message_id)
    if session is None or message is None:
        return [("final", escape(_("会话已删除。")))]  # an event without data is never dispatched
    holdings = holdings_of(session.user)
    return [*_final_sources(message), ("final", _answer(message, holdings))]


def _final_sources(message: MessageView) -> list[PageEvent]:
    """Return the pane; an answer that never had sources leaves the earlier one's in place."""
    if not message.sources and not message.is_unfinished:
        return []
    return [("sources", render_to_string("chat/sources.html", sources_context(message)))]


def _answer(message: MessageView, holdings: Holdings) -> str:
    context = {"message": message, "holdings": holdings}
    return render_to_string("chat/message.html#answer", context)
