"""Stage 2: the research agent's searches become evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from apps.agents.blueprints import blueprints
from apps.agents.evidence import is_sufficient, merge_evidence
from apps.agents.results import ExecutionResult
from apps.agents.tools.search_knowledge_base import NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.messages import BaseMessage
    from langgraph.graph.state import CompiledStateGraph

    from apps.agents.run_context import RunContext
    from apps.core.passages import Evidence, Passage


async def research(
    agent: CompiledStateGraph[Any, Any, Any, Any], question: str, run: RunContext
) -> tuple[ExecutionResult, Evidence]:
    """Return what the research agent found for a standalone question.

    Raises:
        AppError: a search or the model failed.
    """
    state = await agent.ainvoke({"messages": [HumanMessage(question)]}, context=run)
    messages: list[BaseMessage] = state["messages"]
    evidence = merge_evidence(question, _searches(messages), max_sources=run.limits.max_sources)
    return _result(evidence, str(messages[-1].text).strip(), run), evidence


def _searches(messages: Sequence[BaseMessage]) -> list[tuple[str, Sequence[Passage]]]:
    found = {
        message.tool_call_id: message.artifact
        for message in messages
        if isinstance(message, ToolMessage) and message.name == NAME and message.artifact
    }
    return [
        (str(call["args"].get("query", "")), found.get(call["id"] or "", ()))
        for message in messages
        if isinstance(message, AIMessage)
        for call in message.tool_calls
    ]


def _result(evidence: Evidence, summary: str, run: RunContext) -> ExecutionResult:
    counted = blueprints().texts.execution_summary.render(
        run.user.language, searches=len(evidence.queries), passages=len(evidence.sources)
    )
    is_enough = is_sufficient(evidence, run.limits.evidence_threshold)
    return ExecutionResult(
        status="SUCCESS" if is_enough else "PARTIAL",
        execution_summary=counted,
        execution_data={
            "question": evidence.question,
            "queries": list(evidence.queries),
            "sources": [
                {
                    "label": source.label,
                    "chunk_id": str(source.passage.chunk_id),
                    "score": source.passage.score,
                    "query": source.query,
                }
                for source in evidence.sources
            ],
        },
        report_brief=summary or counted,
    )
