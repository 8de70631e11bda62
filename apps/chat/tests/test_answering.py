"""What is stored of an answer whose run is ended from outside."""

from __future__ import annotations

import asyncio

import pytest

from apps.agents.events import RunFinished
from apps.chat.errors import RunInterruptedError, RunStoppedError
from apps.chat.runs import answering, running
from apps.chat.turns.stream_events import AnswerSaved

pytestmark = [pytest.mark.asyncio, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def hanging_search(monkeypatch):
    """A search that only a cancellation ends, so that the run outlives its direct reply."""

    async def search(*_args, **_kwargs):
        await asyncio.Event().wait()

    monkeypatch.setattr(answering, "asearch_passages", search)


async def run_with_a_whole_reply(session):
    turn = await answering.ask(session, "你好")
    run = running.find(turn.run_id)
    events = run.events(0, grace_s=60, heartbeat_s=60)
    async for numbered in events:
        if isinstance(numbered.event, RunFinished):
            return run, events
    raise AssertionError("the run has ended")


@pytest.mark.usefixtures("hanging_search")
async def test_stop_after_a_whole_direct_reply_keeps_it(session):
    run, events = await run_with_a_whole_reply(session)

    running.cancel(run.id, RunStoppedError())

    ending = [numbered.event async for numbered in events][-1]
    answer = await session.messages.aget(role="assistant")
    await session.arefresh_from_db()
    assert ending == AnswerSaved(answer.id, "direct")
    assert (answer.status, answer.error_code) == ("completed", None)
    assert answer.content
    assert session.status == "completed"


@pytest.mark.usefixtures("hanging_search")
async def test_end_of_the_server_after_a_whole_direct_reply_keeps_it(session):
    run, events = await run_with_a_whole_reply(session)

    await asyncio.to_thread(run.interrupt)

    answer = await session.messages.aget(role="assistant")
    assert (answer.status, answer.error_code) == ("completed", None)
    running.cancel(run.id, RunInterruptedError())
    assert [numbered.event async for numbered in events][-1] == AnswerSaved(answer.id, "direct")
