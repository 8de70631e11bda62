"""The extractive chat model: answers from passages without a language model.

It plays the three agents of the flow and knows which by what is bound to it: JSON output means
the intent stage, the tool `search_knowledge_base` the research agent, the tool `research` the main
agent. It reads what people wrote and the artifacts of tools. It never reads prompts, and it takes
document text for data only.
"""

from __future__ import annotations

import asyncio
import json
from functools import cached_property
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import ConfigDict, SkipValidation

from apps.core.passages import Evidence
from apps.core.text.words import language_of
from apps.llm.extractive.answer_selection import INSUFFICIENT_EVIDENCE, compose, pieces
from apps.llm.extractive.followups import own_part, standalone_query
from apps.llm.extractive.multi_hop import next_query
from apps.llm.extractive.routing import (
    asks_again,
    asks_for_prompt,
    direct_reply,
    without_courtesies,
)
from apps.llm.extractive.sentence_vectors import SentenceVectors
from apps.llm.ports import EmbeddingModel  # noqa: TC001 - pydantic reads the field type

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Sequence

    from langchain_core.callbacks import (
        AsyncCallbackManagerForLLMRun,
        CallbackManagerForLLMRun,
    )
    from langchain_core.language_models.base import LanguageModelInput
    from langchain_core.messages import BaseMessage
    from langchain_core.runnables import Runnable
    from langchain_core.tools import BaseTool

MODEL_NAME = "extractive"
SEARCH_TOOL = "search_knowledge_base"
RESEARCH_TOOL = "research"
NO_USAGE = {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}


class ExtractiveChatModel(BaseChatModel):
    """Quotes the sentences that answer; `embeddings` measures how near a sentence is."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    embeddings: SkipValidation[EmbeddingModel]
    model_name: str = MODEL_NAME

    @property
    def _llm_type(self) -> str:
        return MODEL_NAME

    @cached_property
    def _vectors(self) -> SentenceVectors:
        return SentenceVectors(self.embeddings)

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Return the model with tools; they decide the role, so `tool_choice` is not needed."""
        del tool_choice
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        del stop, run_manager
        message = self._reply(messages, kwargs)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        del stop
        for chunk in _chunks(self._reply(messages, kwargs)):
            if run_manager:
                run_manager.on_llm_new_token(str(chunk.message.content), chunk=chunk)
            yield chunk

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        del stop
        message = await asyncio.to_thread(self._reply, messages, kwargs)
        for chunk in _chunks(message):
            if run_manager:
                await run_manager.on_llm_new_token(str(chunk.message.content), chunk=chunk)
            yield chunk

    def _reply(self, messages: Sequence[BaseMessage], bound: dict[str, Any]) -> AIMessage:
        """Return the reply of the agent that `bound` tells."""
        before, question, after = _around_question(messages)
        tools = {tool["function"]["name"] for tool in bound.get("tools") or ()}
        if SEARCH_TOOL in tools:
            return _research_step(question, after)
        if RESEARCH_TOOL in tools:
            return self._answer(question, after)
        return _message(_intent(question, before))

    def _answer(self, question: str, after: Sequence[BaseMessage]) -> AIMessage:
        """Return the cited answer, or the call of `research` when it was not answered yet."""
        answered = [m for m in after if isinstance(m, ToolMessage) and m.name == RESEARCH_TOOL]
        if not answered:
            return _call(RESEARCH_TOOL, question)
        evidence = answered[-1].artifact
        if not isinstance(evidence, Evidence):
            return _message(INSUFFICIENT_EVIDENCE)
        asked = without_courtesies(question)
        asked = own_part(evidence.question) if asks_again(asked) else asked
        return _message(compose(asked, evidence, self._vectors))


def _around_question(
    messages: Sequence[BaseMessage],
) -> tuple[list[BaseMessage], str, list[BaseMessage]]:
    """Return the messages before the last human one, its text, and the messages after it."""
    last = max((i for i, m in enumerate(messages) if isinstance(m, HumanMessage)), default=-1)
    if last < 0:
        raise ValueError("the extractive model needs a message of the person")
    return list(messages[:last]), messages[last].text, list(messages[last + 1 :])


def _intent(question: str, before: Sequence[BaseMessage]) -> str:
    """Return the intent stage's JSON object."""
    said = [
        (isinstance(m, HumanMessage), m.text)
        for m in before
        if isinstance(m, HumanMessage | AIMessage) and m.text
    ]
    reply = direct_reply(question, [text for own, text in said if own])
    brief = None if reply else standalone_query(question, said)
    result = {
        "route": "DIRECT_EXECUTION" if reply else "NEEDS_EXECUTION",
        "intent_summary": question[:100],
        "assistant_text": reply,
        "execution_brief": brief,
        "safety_flags": ["prompt_disclosure"] if asks_for_prompt(question) else [],
    }
    return json.dumps(result, ensure_ascii=False)


def _research_step(question: str, after: Sequence[BaseMessage]) -> AIMessage:
    """Return the next search call, or a closing remark."""
    searched = [
        str(call["args"].get("query", ""))
        for m in after
        if isinstance(m, AIMessage)
        for call in m.tool_calls
        if call["name"] == SEARCH_TOOL
    ]
    found = [
        m.artifact or [] for m in after if isinstance(m, ToolMessage) and m.name == SEARCH_TOOL
    ]
    query = next_query(question, searched, found) if len(found) == len(searched) else None
    if query:
        return _call(SEARCH_TOOL, query)
    count = len({passage.chunk_id for passages in found for passage in passages})
    is_chinese = language_of(question) == "zh"
    return _message(f"共找到 {count} 段资料。" if is_chinese else f"Found {count} passages.")


def _call(tool: str, query: str) -> AIMessage:
    call = {
        "name": tool,
        "args": {"query": query},
        "id": f"call_{uuid4().hex}",
        "type": "tool_call",
    }
    return AIMessage(
        content="",
        tool_calls=[call],
        usage_metadata=NO_USAGE,
        response_metadata={"model_name": MODEL_NAME, "finish_reason": "tool_calls"},
    )


def _message(text: str) -> AIMessage:
    return AIMessage(
        content=text,
        usage_metadata=NO_USAGE,
        response_metadata={"model_name": MODEL_NAME, "finish_reason": "stop"},
    )


def _chunks(message: AIMessage) -> Iterator[ChatGenerationChunk]:
    """Yield the message in small pieces; the last chunk carries tool calls, usage and metadata."""
    for piece in pieces(message.text):
        yield ChatGenerationChunk(message=AIMessageChunk(content=piece))
    calls = [
        tool_call_chunk(
            name=c["name"], args=json.dumps(c["args"], ensure_ascii=False), id=c["id"], index=i
        )
        for i, c in enumerate(message.tool_calls)
    ]
    yield ChatGenerationChunk(
        message=AIMessageChunk(
            content="",
            tool_call_chunks=calls,
            usage_metadata=NO_USAGE,
            response_metadata=message.response_metadata,
            chunk_position="last",
        )
    )
