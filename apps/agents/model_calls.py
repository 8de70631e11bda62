"""Calls to models: who is told of them, and what the stages read from a reply."""

from __future__ import annotations

import time
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from langchain_core.messages import AIMessage

from apps.agents.blueprints import blueprints
from apps.agents.events import UsageReported
from apps.llm.calls import EMBEDDED_VENDOR, CallScope, CallTarget, OpenCall, call_scope
from apps.llm.errors import AnswerTruncatedError, ContentFilteredError
from apps.llm.factory import chat_is_embedded, chat_model_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from langchain.agents.middleware import ModelResponse

    from apps.agents.events import Stage
    from apps.agents.run_context import RunContext


@contextmanager
def reported_calls(
    run: RunContext, stage: Stage, *, tool_call_id: str | None = None
) -> Iterator[None]:
    """Report the requests that are made inside to the run's log, if it has one."""
    if run.calls is None:
        yield
        return
    agent = blueprints().agent(stage).name
    with call_scope(CallScope(run.calls, stage, agent, tool_call_id)):
        yield


@contextmanager
def reported_reply(run: RunContext, stage: Stage) -> Iterator[None]:
    """Report the chat call that is made inside; an embedded model does not report by itself."""
    target = CallTarget("chat", EMBEDDED_VENDOR, chat_model_name(stage))
    with (
        reported_calls(run, stage),
        OpenCall(target) if chat_is_embedded(stage) else nullcontext(),
    ):
        yield


def ai_message(response: ModelResponse[object]) -> AIMessage:
    """Return the model's message of a response."""
    return next(message for message in response.result if isinstance(message, AIMessage))


def finish_reason(message: AIMessage) -> str:
    """Return why the model stopped: stop, tool_calls, length, content_filter, …"""
    return str(message.response_metadata.get("finish_reason") or "")


def check_not_filtered(message: AIMessage) -> None:
    """Raise ContentFilteredError when the vendor's filter stopped the model."""
    if finish_reason(message) == "content_filter":
        raise ContentFilteredError


def check_whole(message: AIMessage) -> None:
    """Raise when the message is filtered or cut: neither may be taken for an answer."""
    check_not_filtered(message)
    if finish_reason(message) == "length":
        raise AnswerTruncatedError


def usage_event(stage: Stage, message: AIMessage, *, started_at: float) -> UsageReported:
    """Return the event of a call that began at `started_at` (monotonic seconds)."""
    usage = message.usage_metadata
    return UsageReported(
        stage=stage,
        model=chat_model_name(stage),
        input_tokens=usage["input_tokens"] if usage else 0,
        output_tokens=usage["output_tokens"] if usage else 0,
        latency_ms=round((time.monotonic() - started_at) * 1000),
        is_reported=usage is not None,
    )
