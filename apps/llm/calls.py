"""Reports every request to a model to whoever asked for reports: begun before it is sent, ended
exactly once, whatever ends it.

Knows neither database nor prices. Outside of a `call_scope` nothing is reported. A retried request
is a call of its own, since a vendor may charge it.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self
from uuid import UUID, uuid4

from asgiref.sync import sync_to_async
from django.utils import timezone

from apps.llm.pricing.token_estimate import estimated_prompt_tokens, estimated_tokens
from apps.llm.pricing.usage import Usage, usage_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime
    from types import TracebackType

EMBEDDED_VENDOR = "embedded"

CallKind = Literal["chat", "embedding", "speech"]
CallStatus = Literal["completed", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class CallTarget:
    """Which model is called, and by whom the calls are served."""

    kind: CallKind
    vendor: str
    model: str


@dataclass(frozen=True, slots=True)
class CallBegun:
    """A request that is about to be sent. Its prompt's tokens are estimated, for the case that
    nothing more is heard of it.
    """

    target: CallTarget
    stage: str
    agent: str
    tool_call_id: str | None
    estimated_input_tokens: int
    started_at: datetime = field(default_factory=timezone.now)
    id: UUID = field(default_factory=uuid4)


@dataclass(frozen=True, slots=True)
class CallEnded:
    """How a request ended; `raw_usage` is the vendor's own object."""

    begun: CallBegun
    status: CallStatus
    usage: Usage
    latency_ms: int
    first_token_ms: int | None = None
    raw_usage: dict[str, Any] | None = None
    provider_request_id: str | None = None


class CallLog(Protocol):
    """Who wants to know of the calls."""

    def begin(self, call: CallBegun) -> None:
        """Keep a call before it is sent; may block, and an exception prevents the call."""
        ...

    def end(self, call: CallEnded) -> None:
        """Take note of the end; may be called in an event loop, so it must not block."""
        ...


@dataclass(frozen=True, slots=True)
class CallScope:
    """On whose behalf calls are made."""

    log: CallLog
    stage: str
    agent: str = ""
    tool_call_id: str | None = None


_scope: ContextVar[CallScope | None] = ContextVar("call_scope", default=None)


@contextmanager
def call_scope(scope: CallScope) -> Iterator[None]:
    """Report the calls that are made inside, also in its tasks and `asyncio.to_thread`."""
    token = _scope.set(scope)
    try:
        yield
    finally:
        _scope.reset(token)


class OpenCall:
    """One request while it lasts: a context manager, synchronous or asynchronous.

    `was_refused` tells the errors after which a vendor charges nothing: a status that is no
    success, or no connection.
    """

    def __init__(
        self,
        target: CallTarget,
        prompt: Iterable[str] = (),
        *,
        was_refused: Callable[[BaseException], bool] = lambda _error: False,
    ) -> None:
        self.raw_usage: dict[str, Any] | None = None
        self.provider_request_id: str | None = None
        self.is_cut = False  # a stream that ends without an error and yet too early
        self._was_refused = was_refused
        self._heard: list[str] = []
        self._first_token_ms: int | None = None
        self._started = time.monotonic()
        self._scope = scope = _scope.get()
        self._begun: CallBegun | None = None
        if scope is not None:
            self._begun = CallBegun(
                target,
                scope.stage,
                scope.agent,
                scope.tool_call_id,
                estimated_prompt_tokens(prompt),
            )

    def hear(self, text: str) -> None:
        """Take note of a piece of the reply, the first of which is the first token."""
        if self._first_token_ms is None:
            self._first_token_ms = self._elapsed_ms()
        self._heard.append(text)

    def __enter__(self) -> Self:
        if self._scope is not None and self._begun is not None:
            self._scope.log.begin(self._begun)
        return self._restarted()

    async def __aenter__(self) -> Self:
        if self._scope is not None and self._begun is not None:
            try:
                await sync_to_async(self._scope.log.begin)(self._begun)
            except asyncio.CancelledError:
                # Its thread may still keep the call, which will not be sent.
                self._scope.log.end(CallEnded(self._begun, "cancelled", Usage(), latency_ms=0))
                raise
        return self._restarted()

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        if self._scope is not None and self._begun is not None:
            self._scope.log.end(self._ended(self._begun, error))

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.__exit__(kind, error, traceback)

    def _restarted(self) -> Self:
        """Do not count the time that the log took."""
        self._started = time.monotonic()
        return self

    def _elapsed_ms(self) -> int:
        return round((time.monotonic() - self._started) * 1000)

    def _ended(self, begun: CallBegun, error: BaseException | None) -> CallEnded:
        return CallEnded(
            begun=begun,
            status="failed" if error is None and self.is_cut else _status(error),
            usage=self._usage(begun, error),
            latency_ms=self._elapsed_ms(),
            first_token_ms=self._first_token_ms,
            raw_usage=self.raw_usage,
            provider_request_id=self.provider_request_id,
        )

    def _usage(self, begun: CallBegun, error: BaseException | None) -> Usage:
        if begun.target.vendor == EMBEDDED_VENDOR:
            return Usage()
        reported = usage_of(self.raw_usage, has_output=begun.target.kind == "chat")
        if reported is not None:
            return self._completed(reported, error)
        if error is not None and not self._heard and self._was_refused(error):
            return Usage()
        return Usage(
            begun.estimated_input_tokens, estimated_tokens(self._text()), is_estimated=True
        )

    def _completed(self, reported: Usage, error: BaseException | None) -> Usage:
        """Trust the vendor's last word; of a cut stream more may have arrived since."""
        is_whole = error is None and not self.is_cut
        heard = 0 if is_whole else estimated_tokens(self._text())
        if heard <= reported.output_tokens:
            return reported
        return replace(reported, output_tokens=heard, is_estimated=True)

    def _text(self) -> str:
        return "".join(self._heard)


def _status(error: BaseException | None) -> CallStatus:
    if error is None:
        return "completed"
    return "cancelled" if isinstance(error, asyncio.CancelledError | GeneratorExit) else "failed"
