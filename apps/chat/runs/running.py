"""The answers that this process is writing: tasks, their numbered events, readers, cancellation.

A run lives in its own task with a fresh context, so that it outlives the request that started it.
Its buffer of numbered events is the truth that every reader follows, from any number on. A run
ends by itself, by `cancel`, by the time-out, or because its last reader left. What a run does is
given as `RunWork`; nothing here knows the database's tables or the agents.

A run of another web process is cancelled through the channel layer; only the reason's code
travels. With the in-memory layer there is no other web process and nobody listens elsewhere.
"""

from __future__ import annotations

import asyncio
import atexit
import contextvars
import logging
import threading
from functools import cache
from typing import TYPE_CHECKING, Protocol

from asgiref.sync import ThreadSensitiveContext, async_to_sync, sync_to_async
from channels.layers import get_channel_layer
from django.conf import settings
from django.db import connections
from django.utils import translation

from apps.chat.errors import (
    RunAbandonedError,
    RunInterruptedError,
    RunStoppedError,
    RunTimeoutError,
    SessionDeletedError,
)
from apps.chat.turns.stream_events import AnswerFailed, NumberedEvent, ends_stream
from apps.core.errors import AppError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable
    from uuid import UUID

    from apps.chat.turns.stream_events import AnswerSaved, StreamEvent

logger = logging.getLogger(__name__)

KEEP_ENDED_S = 120  # a page that reloads after the end still finds the events
KEEP_ENDED_COUNT = 50
_REASONS = {
    reason.code: reason for reason in (RunAbandonedError, RunStoppedError, SessionDeletedError)
}


class RunWork(Protocol):
    """What a run does: it answers or gives up, and each stores its end before it returns it."""

    message_id: UUID

    async def answer(self, publish: Callable[[StreamEvent], None]) -> AnswerSaved | AnswerFailed:
        """Write the answer, publishing the events on the way; an AppError says why it failed."""
        ...

    async def give_up(self, error: AppError) -> AnswerSaved | AnswerFailed:
        """Store the failure; returns how the run really ended."""
        ...

    def interrupt(self) -> None:
        """Store that the process ends; called without a running event loop."""
        ...


class Run:
    """One answer in the making. Made and changed in its event loop only, except `cancel`."""

    def __init__(self, run_id: UUID, work: RunWork, *, language: str | None) -> None:
        self.id = run_id
        self._work = work
        self._language = language
        self._events: list[NumberedEvent] = []
        self._changed = asyncio.Event()
        self._readers = 0
        self._reason: AppError | None = None
        self._is_answering = True
        self._ended = threading.Event()
        self._loop = asyncio.get_running_loop()
        self._task = self._loop.create_task(self._live(), context=contextvars.Context())

    @property
    def has_ended(self) -> bool:
        """Whether the last event is in the buffer."""
        return self._ended.is_set()

    def wait_ended(self, timeout_s: float) -> bool:
        """Block this thread, never the event loop's, until the end; False at the time-out."""
        return self._ended.wait(timeout_s)

    def cancel(self, reason: AppError) -> None:
        """End the run with `reason`, from any thread; the first reason counts."""
        self._loop.call_soon_threadsafe(self._cancel, reason)

    def interrupt(self) -> None:
        """Store that this process ends before the answer does."""
        self._work.interrupt()

    def cancel_unless_read(self, within_s: float) -> None:
        """End the run when nobody reads it `within_s` seconds from now."""
        self._loop.call_later(within_s, self._cancel_if_unread)

    async def events(
        self, after: int, *, grace_s: float, heartbeat_s: float
    ) -> AsyncGenerator[NumberedEvent | None]:
        """Yield the events behind number `after` as they come, and None in each silent interval.

        A number that the run has not reached counts as its latest, so that the end always comes.
        When the last reader leaves before the end, the run is cancelled after `grace_s` seconds.
        """
        self._readers += 1
        reached = len(self._events)
        position = after if after <= reached else reached - self.has_ended
        try:
            while True:
                changed = self._changed
                for numbered in self._events[max(position, 0) :]:
                    position = numbered.number
                    yield numbered
                if self.has_ended and position >= len(self._events):
                    return
                if not await _set_within(changed, heartbeat_s):
                    yield None
        finally:
            self._readers -= 1
            if not self._readers and not self.has_ended:
                self.cancel_unless_read(grace_s)

    def _cancel_if_unread(self) -> None:
        if not self._readers:
            self._cancel(RunAbandonedError())

    def _cancel(self, reason: AppError) -> None:
        if self._is_answering and self._reason is None:
            self._reason = reason
            self._task.cancel()

    def _publish(self, event: StreamEvent) -> None:
        self._events.append(NumberedEvent(len(self._events) + 1, event))
        if ends_stream(event):
            self._ended.set()
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def _live(self) -> None:
        translation.activate(self._language or settings.LANGUAGE_CODE)
        async with ThreadSensitiveContext():
            listener = asyncio.create_task(_listen(self.id, self.cancel))
            try:
                self._publish(await self._outcome())
            finally:
                listener.cancel()
                await sync_to_async(connections.close_all)()
        _forget_later(self)

    async def _outcome(self) -> AnswerSaved | AnswerFailed:
        """Let the work answer; whatever goes wrong becomes a stored failure."""
        try:
            async with asyncio.timeout(settings.ENV.run_timeout_s):
                return await self._work.answer(self._publish)
        except asyncio.CancelledError:
            error: AppError = self._reason or RunInterruptedError()
        except TimeoutError:
            error = RunTimeoutError()
        except AppError as known:
            error = known
        except Exception:  # the boundary of a run: a defect fails the answer, not the server
            logger.exception("run %s failed unexpectedly", self.id)
            error = AppError()
        finally:
            self._is_answering = False
        return await self._give_up(error)

    async def _give_up(self, error: AppError) -> AnswerSaved | AnswerFailed:
        try:
            return await self._work.give_up(error)
        except Exception:  # the readers must learn of the end; recovery cleans the row
            logger.exception("the failure of run %s could not be stored", self.id)
            return AnswerFailed(self._work.message_id, error.code, error.text, error.retryable)


_runs: dict[UUID, Run] = {}


def start(run_id: UUID, work: RunWork) -> Run:
    """Start a run in the running event loop; texts for people take the active language."""
    _interrupt_at_exit()
    _runs[run_id] = run = Run(run_id, work, language=translation.get_language())
    return run


def find(run_id: UUID) -> Run | None:
    """Return a run of this process, also for a while after its end."""
    return _runs.get(run_id)


def cancel(run_id: UUID, reason: AppError) -> Run | None:
    """End a run from any thread; another process's run is told through the channel layer."""
    run = find(run_id)
    if run is None:
        send_cancel(run_id, reason)
    else:
        run.cancel(reason)
    return run


def send_cancel(run_id: UUID, reason: AppError) -> None:
    """Tell whichever process has the run to end it; call it outside the event loop's thread."""
    layer = get_channel_layer()
    async_to_sync(layer.group_send)(_group(run_id), {"type": "cancel", "code": reason.code})


async def _listen(run_id: UUID, cancel: Callable[[AppError], None]) -> None:
    """Call `cancel` when another process asks for it; runs until it is cancelled itself."""
    layer = get_channel_layer()
    channel = await layer.new_channel()
    await layer.group_add(_group(run_id), channel)
    try:
        message = await layer.receive(channel)
        cancel(_REASONS[message["code"]]())
    finally:
        await layer.group_discard(_group(run_id), channel)


def _group(run_id: UUID) -> str:
    return f"run.{run_id.hex}"


async def _set_within(event: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True


def _forget_later(run: Run) -> None:
    asyncio.get_running_loop().call_later(KEEP_ENDED_S, _runs.pop, run.id, None)
    ended = [other.id for other in _runs.values() if other.has_ended]
    for run_id in ended[:-KEEP_ENDED_COUNT]:
        _runs.pop(run_id, None)


def _interrupt_leftovers() -> None:
    for run in list(_runs.values()):
        if not run.has_ended:
            run.interrupt()


@cache
def _interrupt_at_exit() -> None:
    """Register once. At exit the event loop is gone; only the database is still at hand."""
    atexit.register(_interrupt_leftovers)
