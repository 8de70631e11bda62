"""Stage 3: from evidence to a cited answer, by the embedded model or by the main agent."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessageChunk

from apps.agents.answer.answer_stream import AnswerStream
from apps.agents.events import ContextTrimmed
from apps.agents.messages import answered_research, conversation
from apps.agents.model_calls import ask_embedded
from apps.agents.prompts import prompt_config

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from langgraph.graph.state import CompiledStateGraph

    from apps.agents.context import RunContext, UserAgentContext
    from apps.agents.events import RunEvent
    from apps.core.passages import Evidence
    from apps.llm.ports import ChatPort


def refusal_text(question: str, user: UserAgentContext) -> str:
    """Return the refusal in the language of the question, or of the person if that is unclear."""
    return prompt_config().texts.refusal.render(user.language_for(question))


async def quote_answer(
    model: ChatPort, evidence: Evidence, run: RunContext
) -> AnswerStream | None:
    """Return the embedded model's answer; None when it finds the evidence insufficient.

    Raises:
        AppError: the answer breaks the rules of citation.
    """
    answer = _stream(evidence, run)
    ask = partial(model.answer, run.question, evidence)
    quoted = await ask_embedded(run, "organization", ask)
    if quoted is None:
        return None
    refusal, language = prompt_config().texts.part_refusal, run.user.language_for(run.question)
    refused = [refusal.render(language, part=part) for part in quoted.unanswered]
    answer.feed("\n\n".join([quoted.text, *refused]))
    return answer if answer.finish() else None


async def write_answer(
    agent: CompiledStateGraph[Any, Any, Any, Any], evidence: Evidence, run: RunContext
) -> AnswerStream | None:
    """Stream the main agent's answer and return it; None as `quote_answer`.

    Raises:
        AppError: the model failed, or its answer breaks the rules of citation.
    """
    own_name = prompt_config().agent("organization").name
    answer = _stream(evidence, run)

    def emit(event: RunEvent) -> None:
        if isinstance(event, ContextTrimmed):
            answer.withdraw(event.dropped_labels)
        run.emit(event)

    messages = [*conversation(run), *answered_research(evidence, run)]
    pieces: AsyncIterator[Any] = agent.astream(
        {"messages": messages}, context=replace(run, emit=emit), stream_mode="messages"
    )
    async for chunk, metadata in pieces:
        if isinstance(chunk, AIMessageChunk) and metadata.get("lc_agent_name") == own_name:
            answer.feed(str(chunk.text))
    return answer if answer.finish() else None


def _stream(evidence: Evidence, run: RunContext) -> AnswerStream:
    labels = [source.label for source in evidence.sources]
    return AnswerStream(labels, prompt_config().workflow.insufficient_marker, run.emit)
