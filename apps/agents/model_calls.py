"""Calls to models: who is told of them, how long they may take, and what is done with a reply.

The middlewares stand around each call of an agent to its model. They run as one `Chain`.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, SystemMessage
from langchain_core.runnables import RunnableLambda

from apps.agents.events import ModelCalled
from apps.agents.messages import stage_prompt
from apps.agents.prompts import prompt_config
from apps.agents.trimming import within_context
from apps.llm.calls import EMBEDDED_VENDOR, CallScope, CallTarget, OpenCall, call_scope
from apps.llm.errors import (
    AnswerTruncatedError,
    ContentFilteredError,
    MalformedToolCallError,
    ModelTimeoutError,
)
from apps.llm.factory import chat_is_embedded, chat_model_name

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

    from langchain.agents.middleware import ModelRequest, ModelResponse
    from langchain_core.messages import BaseMessage
    from langchain_core.runnables import Runnable, RunnableConfig

    from apps.agents.context import RunContext
    from apps.agents.events import Stage

    type Request = ModelRequest[Any]
    type Response = ModelResponse[Any]
    type Handler = Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]

MALFORMED = "malformed_tool_call"


@asynccontextmanager
async def stage_limit(stage: Stage) -> AsyncIterator[None]:
    """Cancel what is inside when the stage takes longer than workflow.yaml allows.

    Raises:
        ModelTimeoutError: it did.
    """
    seconds: float = getattr(prompt_config().workflow.stage_timeout_s, stage)
    try:
        async with asyncio.timeout(seconds) as limit:
            yield
    except TimeoutError:
        if limit.expired():
            raise ModelTimeoutError from None
        raise


@contextmanager
def reported_calls(
    run: RunContext, stage: Stage, *, tool_call_id: str | None = None
) -> Iterator[None]:
    """Report the requests that are made inside to the run's log, if it has one."""
    if run.calls is None:
        yield
        return
    agent = prompt_config().agent(stage).name
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


async def ask_embedded[Reply](run: RunContext, stage: Stage, ask: Callable[[], Reply]) -> Reply:
    """Return what an embedded model says, asked in a thread and traced as the stage's agent."""
    agent = prompt_config().agent(stage)
    asking: Runnable[None, Reply] = RunnableLambda(lambda _none: ask())
    config: RunnableConfig = {"run_name": agent.name, "tags": [agent.tag]}
    with reported_reply(run, stage):
        return await asking.ainvoke(None, config)


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


class Chain(AgentMiddleware[Any, Any]):
    """Runs middlewares as one; the first sees a call first, the last stands next to the model.

    LangChain wraps each for tracing, at the price of two thread switches and a task per call, with
    tracing off too; a chain pays it once.
    """

    def __init__(self, *links: AgentMiddleware[Any, Any]) -> None:
        super().__init__()
        self._links = links

    async def awrap_model_call(self, request: Request, handler: Handler) -> Response:
        """Call the model through all links."""
        for link in reversed(self._links):
            handler = partial(link.awrap_model_call, handler=handler)
        return await handler(request)


class RetryMalformedCalls(AgentMiddleware[Any, Any]):
    """Without it an agent would end silently, with an empty text."""

    async def awrap_model_call(self, request: Request, handler: Handler) -> Response:
        """Call the model, once more with a note after malformed arguments."""
        loaded = prompt_config()
        note = loaded.texts.call_malformed.render(request.runtime.context.user.language)
        for _ in range(loaded.workflow.malformed_call_retries + 1):
            response = await handler(request)
            message = ai_message(response)
            if finish_reason(message) != MALFORMED and not message.invalid_tool_calls:
                return response
            request = request.override(messages=[*request.messages, SystemMessage(note)])
        raise MalformedToolCallError


class CallModel(AgentMiddleware[Any, Any]):
    """Stands next to the model: sends the stage's prompt, trimmed to what the model accepts,
    reports each request, and applies one of the checks above to the reply.

    Agents are shared between people, so the system prompt is chosen per call.
    """

    def __init__(self, stage: Stage, check: Callable[[AIMessage], None]) -> None:
        super().__init__()
        self._stage = stage
        self._check = check

    async def awrap_model_call(self, request: Request, handler: Handler) -> Response:
        """Call the model; raise what the check or `within_context` raises."""
        run: RunContext = request.runtime.context
        prompted = request.override(system_message=SystemMessage(stage_prompt(self._stage, run)))

        async def send(messages: list[BaseMessage]) -> Response:
            with reported_reply(run, self._stage):
                return await handler(prompted.override(messages=messages))

        response = await within_context(send, request.messages, stage=self._stage, run=run)
        self._check(ai_message(response))
        return response
