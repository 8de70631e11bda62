"""Runs, their readers and their ends, with works that a test drives by hand.

The works stand in for the answering, not for a model: what is tested is the life of a run.
"""

from __future__ import annotations

import asyncio
import threading
import uuid
from contextvars import ContextVar

import pytest
from asgiref.sync import sync_to_async

from apps.agents.events import TokenProduced
from apps.chat.errors import RunStoppedError
from apps.chat.runs import running
from apps.chat.turns.stream_events import AnswerFailed, AnswerSaved, NumberedEvent
from apps.core.errors import AppError
from kbqa_project.env import load

pytestmark = pytest.mark.asyncio


class HandWork:
    """Publishes what a test tells it to; ends when told to, or fails with `error`."""

    def __init__(self, *, error: Exception | None = None):
        self.message_id = uuid.uuid4()
        self.go_on = asyncio.Event()
        self.given_up: list[AppError] = []
        self.publish = None
        self.started = asyncio.Event()
        self.error = error

    async def answer(self, publish):
        self.publish = publish
        self.started.set()
        await self.go_on.wait()
        if self.error:
            raise self.error
        return AnswerSaved(self.message_id, "answered")

    async def give_up(self, error):
        self.given_up.append(error)
        return AnswerFailed(self.message_id, error.code, error.text, error.retryable)

    def interrupt(self):
        self.given_up.append(AppError())


async def started(work):
    run = running.start(uuid.uuid4(), work)
    await work.started.wait()
    return run


async def read(run, after=0, grace_s=0.0):
    return [n async for n in run.events(after, grace_s=grace_s, heartbeat_s=60) if n is not None]


def token(number, text):
    return NumberedEvent(number, TokenProduced(text))


async def test_reader_gets_the_events_numbered_and_the_end():
    work = HandWork()
    run = await started(work)
    work.publish(TokenProduced("a"))
    reader = asyncio.create_task(read(run))
    await asyncio.sleep(0)
    work.publish(TokenProduced("b"))
    work.go_on.set()
    assert await reader == [
        token(1, "a"),
        token(2, "b"),
        NumberedEvent(3, AnswerSaved(work.message_id, "answered")),
    ]


async def test_late_reader_gets_everything_after_its_number():
    work = HandWork()
    run = await started(work)
    work.publish(TokenProduced("a"))
    work.publish(TokenProduced("b"))
    work.go_on.set()
    await read(run)
    assert [numbered.number for numbered in await read(run, after=1)] == [2, 3]
    assert await read(run, after=3) == []
    assert running.find(run.id) is run


async def test_reader_ahead_of_the_buffer_gets_what_is_new_and_always_the_end():
    work = HandWork()
    run = await started(work)
    work.publish(TokenProduced("a"))
    work.go_on.set()
    assert [numbered.number for numbered in await read(run, after=99)] == [2]
    assert [numbered.number for numbered in await read(run, after=99)] == [2]  # it has ended


async def test_silence_yields_a_beat():
    work = HandWork()
    run = await started(work)
    events = run.events(0, grace_s=0, heartbeat_s=0.01)
    assert await anext(events) is None
    await events.aclose()


async def test_last_reader_leaving_ends_the_run():
    work = HandWork()
    run = await started(work)
    first, second = (run.events(0, grace_s=0, heartbeat_s=60) for _ in range(2))
    work.publish(TokenProduced("a"))
    assert await anext(first) == await anext(second) == token(1, "a")
    await first.aclose()
    await asyncio.sleep(0.01)
    assert work.given_up == []
    await second.aclose()
    await asyncio.sleep(0.01)
    ending = (await read(run))[-1].event
    assert ending == AnswerFailed(
        work.message_id, "DISCONNECTED", "连接已断开，回答未完成。请重新发送。", True
    )


async def test_reader_that_comes_back_in_time_keeps_the_run_alive():
    work = HandWork()
    run = await started(work)
    work.publish(TokenProduced("a"))
    page = run.events(0, grace_s=0.05, heartbeat_s=60)
    await anext(page)
    await page.aclose()
    reloaded = asyncio.create_task(read(run, grace_s=60))
    await asyncio.sleep(0.1)
    assert work.given_up == []
    work.go_on.set()
    assert (await reloaded)[-1].event == AnswerSaved(work.message_id, "answered")


async def test_run_that_nobody_comes_to_read_ends():
    run = await started(HandWork())
    run.cancel_unless_read(0)
    await asyncio.sleep(0.01)
    assert run.has_ended


async def test_cancel_from_a_thread_ends_the_run_with_its_reason():
    work = HandWork()
    run = await started(work)

    def stop():
        running.cancel(run.id, RunStoppedError())
        return run.wait_ended(5)

    assert await asyncio.to_thread(stop) is True
    assert [error.code for error in work.given_up] == ["STOPPED"]


async def test_second_cancel_changes_nothing():
    work = HandWork()
    run = await started(work)
    run.cancel(RunStoppedError())
    run.cancel(AppError())
    await read(run)
    assert [error.code for error in work.given_up] == ["STOPPED"]


async def test_cancel_while_the_failure_is_stored_does_not_tear_it():
    work = HandWork(error=AppError())
    storing, stored = asyncio.Event(), asyncio.Event()

    async def slow_give_up(error):
        storing.set()
        await stored.wait()
        return AnswerFailed(work.message_id, error.code, error.text, error.retryable)

    work.give_up = slow_give_up
    run = await started(work)
    work.go_on.set()
    await storing.wait()
    run.cancel(RunStoppedError())
    await asyncio.sleep(0)
    stored.set()
    assert (await read(run))[-1].event.code == "INTERNAL_ERROR"


async def test_cancel_through_the_channel_layer_reaches_the_run():
    work = HandWork()
    run = await started(work)
    await asyncio.sleep(0.01)  # the listener joins its group
    await sync_to_async(running.send_cancel)(run.id, RunStoppedError())
    assert (await read(run, grace_s=60))[-1].event.code == "STOPPED"


async def test_run_over_the_time_limit_fails(settings):
    settings.ENV = load(run_timeout_s=0.01)
    run = await started(HandWork())
    assert (await read(run))[-1].event.code == "RUN_TIMEOUT"


async def test_known_failure_keeps_its_code():
    work = HandWork(error=RunStoppedError())
    run = await started(work)
    work.go_on.set()
    assert (await read(run))[-1].event.code == "STOPPED"


async def test_defect_fails_the_run_and_is_logged(caplog):
    work = HandWork(error=KeyError("secret"))
    run = await started(work)
    work.go_on.set()
    ending = (await read(run))[-1].event
    assert (ending.code, ending.message) == ("INTERNAL_ERROR", "出现内部错误，请稍后重试。")
    assert f"run {run.id} failed unexpectedly" in caplog.text


async def test_failure_that_cannot_be_stored_still_ends_the_stream():
    work = HandWork(error=RunStoppedError())

    async def broken(error):
        raise OSError("disk full")

    work.give_up = broken
    run = await started(work)
    work.go_on.set()
    assert (await read(run))[-1].event.code == "STOPPED"


async def test_run_does_not_inherit_the_context_of_its_request():
    seen = []
    variable = ContextVar("variable", default="none")
    variable.set("request")
    work = HandWork()

    async def answer(publish):
        seen.append(variable.get())
        seen.append(threading.current_thread() is threading.main_thread())
        return AnswerSaved(work.message_id, "answered")

    work.answer = answer
    await read(running.start(uuid.uuid4(), work))
    assert seen == ["none", True]


async def test_ended_runs_are_kept_in_a_bounded_number():
    ids = []
    for _ in range(running.KEEP_ENDED_COUNT + 5):
        work = HandWork()
        work.go_on.set()
        run = running.start(uuid.uuid4(), work)
        await read(run)
        ids.append(run.id)
    await asyncio.sleep(0.01)
    assert [running.find(run_id) is None for run_id in ids[:5]] == [True] * 5
    assert running.find(ids[-1]) is not None
