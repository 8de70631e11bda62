"""Calls to models: who is told of them, and what the stages read from a reply."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from langchain_core.messages import AIMessage

from apps.agents.events import ModelCalled
from apps.agents.prompts import blueprints
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
    """Report the chat call that is made inside to the run's log, and its reply as an event.

    An embedded model does not report its calls by itself.
    """
    model = chat_model_name(stage)
    target = CallTarget("chat", EMBEDDED_VENDOR, model)
    with (
        reported_calls(run, stage),
        OpenCall(target) if chat_is_embedded(stage) else nullcontext(),
    ):
        yield
    run.emit(ModelCalled(stage, model))


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
