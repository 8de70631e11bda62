"""The two streams of a run: the answer of a JSON client's POST, and a page's EventSource.

A stream only reads the run's buffer. It begins with a comment, so that the first byte leaves at
once, and sends one in each silent interval. When the reader leaves, a POST stream ends its run at
once; a page's run waits a little, since a page that reloads comes back.
"""

from __future__ import annotations

import asyncio
import uuid
from contextlib import aclosing
from typing import TYPE_CHECKING, cast

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import StreamingHttpResponse
from django.views.decorators.http import require_GET

from apps.agents.events import TokenProduced
from apps.chat.models import AgentChatMessage, AgentChatSession, MessageRole, MessageStatus
from apps.chat.runs import answering, running
from apps.chat.streams import html, json_sse
from apps.chat.turns.endings import ending_of
from apps.chat.turns.stream_events import NumberedEvent
from apps.chat.turns.turn import StartedTurn
from apps.core.errors import NotFoundError
from apps.core.web.sse import HEADERS, PING, frame

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator
    from uuid import UUID

    from django.http import HttpRequest

    from apps.accounts.models import User
    from apps.chat.runs.running import Run

CONTENT_TYPE = "text/event-stream"
FOREIGN_RUN_POLL_S = 1.0
MAX_EVENT_ID_DIGITS = 9  # int() refuses thousands of digits


async def json_stream(user: User, session_id: UUID, query: str) -> StreamingHttpResponse:
    """Ask in one of the user's sessions and return the stream of the answer.

    Raises:
        NotFoundError: no such session of this person.
        RunInProgressError, EmptyQuestionError, QuestionTooLongError: nothing was stored.
    """
    session = await sync_to_async(AgentChatSession.objects.of(user).found)(session_id)
    turn = await answering.ask(session, query)
    run = running.find(turn.run_id)
    if run is None:
        raise NotFoundError
    run.cancel_unless_read(settings.ENV.page_grace_s)  # the client may have left already
    return _response(_json_frames(run))


@require_GET
@login_required
async def page_stream(request: HttpRequest, session_id: UUID) -> StreamingHttpResponse:
    """Return the stream of a session's run (`?run=`) as HTML fragments, from `Last-Event-ID` on.

    Raises:
        NotFoundError: the run belongs to no session of this person.
    """
    user = cast("User", await request.auser())
    turn = StartedTurn.of(await _find_answer(user, session_id, request.GET.get("run", "")))
    last_seen = request.headers.get("Last-Event-ID", "")[:MAX_EVENT_ID_DIGITS]
    after = int(last_seen) if last_seen.isascii() and last_seen.isdigit() else 0
    return _response(_page_frames(turn, after))


async def _find_answer(user: User, session_id: UUID, run: str) -> AgentChatMessage:
    try:
        run_id = uuid.UUID(run)
    except ValueError:
        raise NotFoundError from None
    answer = await (
        AgentChatMessage.objects.visible()
        .filter(session__in=AgentChatSession.objects.of(user), session_id=session_id)
        .filter(run_id=run_id, role=MessageRole.ASSISTANT)
        .select_related("session")
        .afirst()
    )
    if answer is None:
        raise NotFoundError
    return answer


def _response(frames: AsyncIterator[bytes]) -> StreamingHttpResponse:
    return StreamingHttpResponse(frames, content_type=CONTENT_TYPE, headers=HEADERS)


async def _json_frames(run: Run) -> AsyncGenerator[bytes]:
    yield PING
    events = run.events(0, grace_s=0, heartbeat_s=settings.ENV.heartbeat_s)
    async with aclosing(events):
        async for numbered in events:
            yield PING if numbered is None else json_sse.encode(numbered)


async def _page_frames(turn: StartedTurn, after: int) -> AsyncGenerator[bytes]:
    yield PING
    run = running.find(turn.run_id)
    if run is None:
        events = _events_elsewhere(turn, after)
    else:
        env = settings.ENV
        events = run.events(after, grace_s=env.page_grace_s, heartbeat_s=env.heartbeat_s)
    async with aclosing(events):
        async for numbered in events:
            yield PING if numbered is None else await _encode_for_page(numbered, turn)


async def _events_elsewhere(turn: StartedTurn, after: int) -> AsyncGenerator[NumberedEvent | None]:
    """Yield the end of a run that another process has, or that ended long ago."""
    generating = AgentChatMessage.objects.filter(
        id=turn.message_id, status=MessageStatus.GENERATING
    )
    while await generating.aexists():
        yield None
        await asyncio.sleep(FOREIGN_RUN_POLL_S)
    yield NumberedEvent(after + 1, await sync_to_async(ending_of)(turn.message_id))


async def _encode_for_page(numbered: NumberedEvent, turn: StartedTurn) -> bytes:
    """Return the event's frames; all but tokens may read the database, so they run in a thread.

    Only the last frame carries the number, so that a reader that lost the connection between two
    frames of an event gets both again.
    """
    if isinstance(numbered.event, TokenProduced):
        named = html.encode(numbered.event, turn)
    else:
        named = await sync_to_async(html.encode)(numbered.event, turn)
    last = len(named) - 1
    return b"".join(
        frame(name, text, event_id=numbered.number if index == last else None)
        for index, (name, text) in enumerate(named)
    )
