"""Stage 2: searches become evidence, with the research agent where the first search is not enough.

Which of them ended the research is told in `execution_data["ended_by"]`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from apps.agents.prompts import blueprints
from apps.agents.research.evidence import is_sufficient, merge_evidence, source_name
from apps.agents.research.evidence_rules import ends_research
from apps.agents.research.search_tool import NAME
from apps.agents.results import ExecutionResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.messages import BaseMessage
    from langgraph.graph.state import CompiledStateGraph

    from apps.agents.research.first_search import FirstSearch
    from apps.agents.run_context import RunContext
    from apps.core.passages import Evidence, Passage

    type EndedBy = Literal["early_search", "research_agent"]
    type Found = tuple[ExecutionResult, Evidence]


def research_early(question: str, first: FirstSearch, run: RunContext) -> Found | None:
    """Return what the first search found when that is enough, without asking a model."""
    if not ends_research(question, first.passages, threshold=run.limits.evidence_threshold):
        return None
    searches = [(first.query, first.passages)]
    evidence = merge_evidence(question, searches, max_sources=run.limits.max_sources)
    return _result(evidence, "", run, "early_search"), evidence


async def research(
    agent: CompiledStateGraph[Any, Any, Any, Any],
    question: str,
    run: RunContext,
    first: FirstSearch | None = None,
) -> Found:
    """Return what the research agent found for a standalone question, after its `first` search.

    Raises:
        AppError: a search or the model failed.
    """
    made = [] if first is None else first.messages(run)
    asked = [HumanMessage(question), *made]
    state = await agent.ainvoke({"messages": asked}, context=run)
    messages: list[BaseMessage] = state["messages"]
    evidence = merge_evidence(question, _searches(messages), max_sources=run.limits.max_sources)
    summary = "" if len(messages) == len(asked) else str(messages[-1].text).strip()
    return _result(evidence, summary, run, "research_agent"), evidence


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
        if call["name"] == NAME
    ]


def _result(
    evidence: Evidence, summary: str, run: RunContext, ended_by: EndedBy
) -> ExecutionResult:
    texts, language = blueprints().texts, run.user.language
    counted = texts.execution_summary.render(
        language, searches=len(evidence.queries), passages=len(evidence.sources)
    )
    is_enough = is_sufficient(evidence, run.limits.evidence_threshold)
    brief = texts.report_brief.render(
        language,
        queries="; ".join(evidence.queries),
        sources="; ".join(f"{s.label} {source_name(s.passage)}" for s in evidence.sources) or "-",
    )
    return ExecutionResult(
        status="SUCCESS" if is_enough else "PARTIAL",
        execution_summary=counted,
        execution_data={
            "ended_by": ended_by,
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
        report_brief=summary or brief,
    )
