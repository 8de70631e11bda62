"""Asking and stopping: from a question of a session to a run that answers and stores its end."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

from asgiref.sync import sync_to_async
from django.db import OperationalError

from apps.agents.events import TokenProduced
from apps.agents.tracing import named_run
from apps.chat.costs.call_ledger import CallLedger
from apps.chat.errors import RunAbandonedError, RunInterruptedError, RunStoppedError
from apps.chat.models import AgentChatMessage
from apps.chat.runs import running
from apps.chat.turns.endings import fail_turn, finish_turn, save_partial
from apps.chat.turns.start import resend_turn, start_turn
from apps.chat.turns.transcript import Transcript
from apps.chat.turns.turn import StartedTurn, turn_context
from apps.core.text.cleaning import clean_text
from apps.documents.search import asearch_passages

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from uuid import UUID

    from apps.accounts.models import User
    from apps.chat.models import AgentChatSession
    from apps.chat.turns.stream_events import AnswerFailed, AnswerSaved, StreamEvent
    from apps.chat.turns.turn import TurnContext
    from apps.core.errors import AppError
    from apps.core.passages import Passage, SearchPort

PARTIAL_SAVE_S = 2.0  # at most so much of an answer is lost when the process is killed
STOP_WAIT_S = 5.0
STORE_ATTEMPTS = 3  # each waits for SQLite's busy time-out


async def ask(session: AgentChatSession, question: str) -> StartedTurn:
    """Store the question and start its run in this event loop; raises like `start_turn`."""
    return await _begin(start_turn, session, question)


async def ask_again(session: AgentChatSession, message_id: UUID) -> StartedTurn:
    """Start a run for the question of a failed answer; raises like `resend_turn`."""
    return await _begin(resend_turn, session, message_id)


def stop_answer(session: AgentChatSession) -> bool:
    """Stop the answer that the session is writing; False when there is none.

    Returns when the answer has ended. Call it from a thread, not from the event loop.
    """
    placeholder = (
        AgentChatMessage.objects.generating()
        .filter(session_id=session.id)
        .select_related("session")
        .first()
    )
    if placeholder is None:
        return False
    turn = StartedTurn.of(placeholder)
    run = running.cancel(turn.run_id, RunStoppedError())
    if run is None or not run.wait_ended(STOP_WAIT_S):
        fail_turn(turn, RunStoppedError())
    return True


class Answering:
    """The work of one run: history and search port in, events out, the end stored."""

    def __init__(self, turn: StartedTurn) -> None:
        self.message_id = turn.message_id
        self._turn = turn
        self._ledger = CallLedger(
            session_id=turn.session_id, run_id=turn.run_id, message_id=turn.message_id
        )
        self._transcript = Transcript(ledger=self._ledger)
        self._is_storing = False

    async def answer(self, publish: Callable[[StreamEvent], None]) -> AnswerSaved | AnswerFailed:
        """Drive the flow, publish its events and store the answer."""
        asked = await sync_to_async(turn_context)(self._turn)
        keeper = asyncio.create_task(self._keep_partial())
        try:
            with named_run(self._turn.run_id):
                await self._follow_flow(asked, publish)
        finally:
            keeper.cancel()
        self._is_storing = True
        return await sync_to_async(_insist)(finish_turn, self._turn, self._transcript)

    async def _follow_flow(
        self, asked: TurnContext, publish: Callable[[StreamEvent], None]
    ) -> None:
        from apps.agents.flow import answer_question  # noqa: PLC0415 - the agent stack is slow

        flow = answer_question(
            self._turn.question,
            history=asked.history,
            context=asked.person,
            search=search_port(asked.owner, cited=asked.cited),
            calls=self._ledger,
        )
        async with aclosing(flow) as events:
            async for event in events:
                clean = event
                if isinstance(event, TokenProduced):
                    clean = replace(event, text=clean_text(event.text))
                self._transcript.add(clean)
                publish(clean)

    async def give_up(self, error: AppError) -> AnswerSaved | AnswerFailed:
        """Store why the run ended, with what was written so far."""
        return await sync_to_async(_insist)(self._end, error)

    def interrupt(self) -> None:
        """Store that the server stopped; no event loop runs any more."""
        self._end(RunInterruptedError())

    def _end(self, error: AppError) -> AnswerSaved | AnswerFailed:
        """Store the failure; but an answer that was whole when it came counts as an answer."""
        if self._transcript.finished is None or self._is_storing:
            return fail_turn(self._turn, error, self._transcript)
        return finish_turn(self._turn, self._transcript)

    async def _keep_partial(self) -> None:
        kept = ""
        while True:
            await asyncio.sleep(PARTIAL_SAVE_S)
            await sync_to_async(self._ledger.save)()
            if (text := self._transcript.text) != kept:
                await sync_to_async(save_partial)(self._turn, text)
                kept = text


def search_port(owner: User, cited: Sequence[UUID] = ()) -> SearchPort:
    """Return a port that searches one person's documents; `cited` chunks may be remembered."""

    async def search(query: str, *, limit: int, remembered: int = 0) -> list[Passage]:
        also = cited if remembered else ()
        found = await asearch_passages(query, owner=owner, limit=limit, also=also)
        return found[: limit + remembered]

    return search


async def _begin[**P](
    store: Callable[P, StartedTurn], *args: P.args, **kwargs: P.kwargs
) -> StartedTurn:
    """Store a turn and start its run, as one step that a leaving client cannot tear apart."""

    async def begin() -> StartedTurn:
        turn = await sync_to_async(store)(*args, **kwargs)
        running.start(turn.run_id, Answering(turn))
        return turn

    beginning = asyncio.create_task(begin())
    try:
        return await asyncio.shield(beginning)
    except asyncio.CancelledError:
        beginning.add_done_callback(_abandon)
        raise


def _abandon(beginning: asyncio.Task[StartedTurn]) -> None:
    if not beginning.cancelled() and beginning.exception() is None:
        running.cancel(beginning.result().run_id, RunAbandonedError())


def _insist[**P, R](store: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call `store`, again when another writer held SQLite longer than its busy time-out."""
    for _attempt in range(STORE_ATTEMPTS - 1):
        try:
            return store(*args, **kwargs)
        except OperationalError as error:
            if "locked" not in str(error):
                raise
            time.sleep(1)
    return store(*args, **kwargs)
