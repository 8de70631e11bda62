"""Chat over an OpenAI-compatible endpoint: the only user of langchain_openai.

The model only streams and only asynchronously. Each call is retried before its first chunk
and never after it; what goes wrong arrives as an error of `apps/llm/errors.py`.
"""

from __future__ import annotations

import asyncio
import importlib
import json
from contextlib import aclosing
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NoReturn
from weakref import WeakKeyDictionary

import httpx2
from langchain_core.language_models.chat_models import BaseChatModel, agenerate_from_stream
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import PrivateAttr

from apps.llm.calls import CallTarget, OpenCall
from apps.llm.endpoints.completions import RAW_USAGE, Completion
from apps.llm.endpoints.retries import RetryPolicy  # noqa: TC001 - pydantic reads the annotation
from apps.llm.endpoints.vendor_errors import (
    UPSTREAM_FAILURES,
    app_error,
    may_retry,
    retry_after_s,
    was_refused,
)
from apps.llm.endpoints.vendors import vendor_of
from apps.llm.errors import AnswerTruncatedError, ContextTooLongError
from apps.llm.pricing.usage import kept_usage

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Sequence

    from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
    from langchain_core.language_models import LanguageModelInput
    from langchain_core.messages import BaseMessage
    from langchain_core.outputs import ChatGenerationChunk, ChatResult
    from langchain_core.runnables import Runnable
    from langchain_core.tools import BaseTool

    from apps.core.errors import AppError
    from kbqa_project.env import Endpoint

REQUEST_ID = "request_id"


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """Seconds: until connected, until the first token, and between two chunks."""

    connect_s: float
    first_token_s: float
    idle_s: float


class OpenAICompatibleChat(BaseChatModel):
    """A chat model behind an endpoint; `response_format` and tools are bound as LangChain does."""

    endpoint: Any
    limits: TimeLimits
    retries: RetryPolicy
    _tls: ssl.SSLContext = PrivateAttr(default_factory=httpx2.create_ssl_context)
    # Connections belong to an event loop, so each loop has its own client.
    _clients: WeakKeyDictionary[asyncio.AbstractEventLoop, Any] = PrivateAttr(
        default_factory=WeakKeyDictionary
    )

    @property
    def _llm_type(self) -> str:
        return "openai-compatible"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Return the model with `tools` in OpenAI's form; `tool_choice` auto, none or required."""
        choice = {} if tool_choice is None else {"tool_choice": tool_choice}
        formatted = [convert_to_openai_tool(tool) for tool in tools]
        return self.bind(tools=formatted, **choice, **kwargs)

    def _generate(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        raise TypeError("use the asynchronous methods: a call must be cancellable")

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        stream = self._astream(messages, stop, run_manager, **kwargs)
        return await agenerate_from_stream(stream)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        completion = Completion()
        arguments = _with_extra_body(kwargs, model=self.endpoint.model)
        async with aclosing(self._retried(messages, stop=stop, **arguments)) as chunks:
            async for chunk in chunks:
                piece = completion.take(chunk)
                if piece is not None:
                    yield piece
        for last in completion.finish():
            yield last

    async def _retried(
        self, messages: list[BaseMessage], **arguments: Any
    ) -> AsyncGenerator[ChatGenerationChunk]:
        for attempt in range(self.retries.further_tries + 1):
            has_started = has_token = False
            try:
                async with aclosing(self._recorded(messages, **arguments)) as chunks:
                    async for chunk in chunks:
                        has_started = True
                        has_token = has_token or _is_token(chunk)
                        yield chunk
            except UPSTREAM_FAILURES as error:
                if has_started or attempt == self.retries.further_tries or not may_retry(error):
                    # The vendor's message may hold a key or a page of HTML: not chained.
                    raise _outgrown(app_error(error), has_token=has_token) from None
                await asyncio.sleep(self.retries.delay_s(attempt, retry_after_s(error)))
            else:
                return

    async def _recorded(
        self, messages: list[BaseMessage], **arguments: Any
    ) -> AsyncGenerator[ChatGenerationChunk]:
        """Stream one attempt and report it as a call."""
        target = CallTarget("chat", vendor_of(self.endpoint.base_url), self.endpoint.model)
        prompt = _prompt_texts(messages, arguments.get("tools", ()))
        async with (
            OpenCall(target, prompt, was_refused=was_refused) as call,
            aclosing(self._timed(messages, **arguments)) as chunks,
        ):
            call.is_cut = True
            async for chunk in chunks:
                _note(chunk, call)
                yield chunk

    async def _timed(
        self, messages: list[BaseMessage], **arguments: Any
    ) -> AsyncGenerator[ChatGenerationChunk]:
        """Stream one attempt; TimeoutError when the first token or the next chunk is late.

        A model that thinks first sends chunks without text: they keep the call alive.
        """
        client = self._client()
        clock = asyncio.get_running_loop().time
        first_token_at = deadline = clock() + self.limits.first_token_s
        has_token = False
        async with aclosing(client._astream(messages, **arguments)) as chunks:
            while True:
                async with asyncio.timeout_at(deadline):
                    chunk = await anext(chunks, None)
                if chunk is None:
                    return
                yield chunk
                has_token = has_token or _is_token(chunk)
                idle_at = clock() + self.limits.idle_s
                deadline = idle_at if has_token else max(idle_at, first_token_at)

    def _client(self) -> Any:
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            self._clients[loop] = _chat_client(self.endpoint, self.limits, self._tls)
        return self._clients[loop]


def load_sdk() -> None:
    """Import the SDK now, so that the first question does not wait for it."""
    importlib.import_module("langchain_openai")


def _chat_client(endpoint: Endpoint, limits: TimeLimits, tls: ssl.SSLContext) -> Any:
    import openai  # noqa: PLC0415 - slow

    longest_s = max(limits.first_token_s, limits.idle_s) + limits.connect_s
    return _chat_class()(
        model=endpoint.model,
        api_key=endpoint.api_key,
        base_url=endpoint.base_url,
        timeout=openai.Timeout(longest_s, connect=limits.connect_s),
        max_retries=0,
        stream_usage=True,
        stream_chunk_timeout=None,
        use_responses_api=False,
        http_async_client=openai.DefaultAsyncHttpxClient(verify=tls),
    )


@lru_cache(maxsize=1)
def _chat_class() -> Any:
    from langchain_openai import ChatOpenAI

    class Chat(ChatOpenAI):
        """Passes on what the base class drops: the vendor's own usage and the request's id."""

        def _convert_chunk_to_generation_chunk(
            self, chunk: dict[str, Any], *args: Any, **kwargs: Any
        ) -> ChatGenerationChunk | None:
            # The base class would fail on counts that are no numbers, so it gets no usage.
            bare = {**chunk, "usage": None}
            converted = super()._convert_chunk_to_generation_chunk(bare, *args, **kwargs)
            if converted is not None:
                facts = {RAW_USAGE: _raw_usage(chunk), REQUEST_ID: _text(chunk.get("id"))}
                converted.generation_info = (converted.generation_info or {}) | facts
            return converted

    return Chat


def _raw_usage(chunk: dict[str, Any]) -> dict[str, Any] | None:
    """Return a chunk's usage; Moonshot puts it into the last choice."""
    choices = chunk.get("choices") or [{}]
    return kept_usage(chunk.get("usage")) or kept_usage(choices[0].get("usage"))


def _note(chunk: ChatGenerationChunk, call: OpenCall) -> None:
    info = chunk.generation_info or {}
    call.raw_usage = info.get(RAW_USAGE) or call.raw_usage
    call.provider_request_id = call.provider_request_id or info.get(REQUEST_ID)
    if info.get("finish_reason"):
        call.is_cut = False
    if _is_token(chunk):
        call.hear("".join(_prompt_texts([chunk.message])))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _with_extra_body(arguments: dict[str, Any], *, model: str) -> dict[str, Any]:
    """Move `response_format` into the body, where the client passes it on as it is."""
    arguments = dict(arguments)
    body = {} if "qwen" not in model.lower() else {"enable_thinking": False}
    if "response_format" in arguments:
        body["response_format"] = arguments.pop("response_format")
    return arguments | ({"extra_body": body} if body else {})


def _is_token(chunk: ChatGenerationChunk) -> bool:
    message = chunk.message
    return bool(message.text) or (
        isinstance(message, AIMessageChunk) and bool(message.tool_call_chunks)
    )


def _outgrown(error: AppError, *, has_token: bool) -> AppError:
    """Return the error; once the reply has begun, it is the reply that became too long."""
    is_too_long = isinstance(error, ContextTooLongError) and has_token
    return AnswerTruncatedError() if is_too_long else error


def _prompt_texts(messages: Iterable[BaseMessage], tools: Iterable[Any] = ()) -> list[str]:
    """Return what a vendor counts as tokens: each message with its tool calls, each tool."""
    texts = [str(message.text) + "".join(_arguments(message)) for message in messages]
    return texts + [json.dumps(tool, ensure_ascii=False, default=str) for tool in tools]


def _arguments(message: BaseMessage) -> list[str]:
    if isinstance(message, AIMessageChunk):
        pieces = message.tool_call_chunks
        return [f"{piece['name'] or ''}{piece['args'] or ''}" for piece in pieces]
    if isinstance(message, AIMessage):
        calls = message.tool_calls
        return [call["name"] + json.dumps(call["args"], ensure_ascii=False) for call in calls]
    return []
