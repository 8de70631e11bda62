"""Stage 3: the main agent writes the answer, entered with the research as an answered call."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from langchain_core.messages import AIMessage, AIMessageChunk, ToolMessage

from apps.agents.answer.answer_stream import AnswerStream
from apps.agents.answer.research_tool import NAME, evidence_content
from apps.agents.conversation import conversation
from apps.agents.events import ContextTrimmed
from apps.agents.prompts import blueprints

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from langchain_core.messages import BaseMessage
    from langgraph.graph.state import CompiledStateGraph

    from apps.agents.events import RunEvent
    from apps.agents.results import ExecutionResult
    from apps.agents.run_context import RunContext
    from apps.core.passages import Evidence


async def write_answer(
    agent: CompiledStateGraph[Any, Any, Any, Any],
    execution: ExecutionResult,
    evidence: Evidence,
    run: RunContext,
) -> AnswerStream | None:
    """Stream the answer and return it; None when the model finds the evidence insufficient.

    Raises:
        AppError: the model failed, or its answer breaks the rules of citation.
    """
    own_name = blueprints().agent("organization").name
    labels = [source.label for source in evidence.sources]
    answer = AnswerStream(labels, blueprints().workflow.insufficient_marker, run.emit)

    def emit(event: RunEvent) -> None:
        if isinstance(event, ContextTrimmed):
            answer.withdraw(event.dropped_labels)
        run.emit(event)

    messages = [*conversation(run), *_answered_research(execution, evidence, run)]
    pieces: AsyncIterator[Any] = agent.astream(
        {"messages": messages}, context=replace(run, emit=emit), stream_mode="messages"
    )
    async for chunk, metadata in pieces:
        if isinstance(chunk, AIMessageChunk) and metadata.get("lc_agent_name") == own_name:
            answer.feed(str(chunk.text))
    return answer if answer.finish() else None


def _answered_research(
    execution: ExecutionResult, evidence: Evidence, run: RunContext
) -> list[BaseMessage]:
    call_id = f"call_{uuid4().hex}"
    call = {"name": NAME, "args": {"query": evidence.question}, "id": call_id}
    return [
        AIMessage(content="", tool_calls=[call | {"type": "tool_call"}]),
        ToolMessage(
            evidence_content(execution.report_brief, evidence, run),
            tool_call_id=call_id,
            name=NAME,
            artifact=evidence,
        ),
    ]
