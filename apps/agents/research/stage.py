"""Stage 2: searches become evidence, by a rule, by the embedded model or by the research agent."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from langchain_core.messages import HumanMessage

from apps.agents.events import ExecutionResult
from apps.agents.messages import first_search, source_name
from apps.agents.model_calls import ask_embedded
from apps.agents.prompts import prompt_config
from apps.agents.research.evidence import (
    ends_research,
    is_sufficient,
    merge_evidence,
    telling,
)
from apps.agents.research.searches import searched

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.messages import BaseMessage
    from langgraph.graph.state import CompiledStateGraph

    from apps.agents.context import RunContext
    from apps.agents.events import EndedBy
    from apps.core.passages import Evidence, Search
    from apps.llm.ports import ChatPort


def research_early(question: str, first: Search, run: RunContext) -> Evidence | None:
    """Return what the first search found when that is enough, without asking a model."""
    if not ends_research(question, first.passages, threshold=run.limits.evidence_threshold):
        return None
    kept = replace(first, passages=telling(first.passages, top_k=run.limits.top_k))
    return _evidence(question, [kept], run)


async def research_embedded(
    model: ChatPort, question: str, run: RunContext, first: Search
) -> Evidence:
    """Return what the searches find that the embedded model asks for after the first one.

    Raises:
        AppError: a search failed.
    """
    searches = [first]
    for _ in range(prompt_config().workflow.research_model_calls):
        if len(searches) >= run.limits.max_searches:
            break
        ask = partial(model.next_query, question, tuple(searches))
        query = await ask_embedded(run, "execution", ask)
        if query is None:
            break
        searches.append(await searched(run, query, call_id=f"call_{uuid4().hex}"))
    return _evidence(question, searches, run)


async def research(
    agent: CompiledStateGraph[Any, Any, Any, Any],
    question: str,
    run: RunContext,
    first: Search | None = None,
) -> Evidence:
    """Return what the research agent found for a standalone question, after its `first` search.

    Raises:
        AppError: a search or the model failed.
    """
    run = replace(run, searches=[] if first is None else [first])
    asked: list[BaseMessage] = [HumanMessage(question)]
    if first is not None:
        asked += first_search(first, run)
    state = await agent.ainvoke({"messages": asked}, context=run)
    replies: list[BaseMessage] = state["messages"][len(asked) :]
    summary = str(replies[-1].text).strip() if replies else ""
    return _evidence(question, run.searches, run, summary)


def execution_result(evidence: Evidence, run: RunContext, ended_by: EndedBy) -> ExecutionResult:
    """Return the stage's contract; who ended the research is told in `execution_data`."""
    is_enough = is_sufficient(evidence, run.limits.evidence_threshold)
    return ExecutionResult(
        status="SUCCESS" if is_enough else "PARTIAL",
        execution_summary=prompt_config().texts.execution_summary.render(
            run.user.language, searches=len(evidence.queries), passages=len(evidence.sources)
        ),
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
        report_brief=evidence.summary or _brief(evidence, run),
    )


def _evidence(
    question: str, searches: Sequence[Search], run: RunContext, summary: str = ""
) -> Evidence:
    evidence = merge_evidence(question, searches, max_sources=run.limits.max_sources)
    return replace(evidence, summary=summary)


def _brief(evidence: Evidence, run: RunContext) -> str:
    """Return what stands for a summary that no model wrote: the queries and the sources."""
    return prompt_config().texts.report_brief.render(
        run.user.language,
        queries="; ".join(evidence.queries),
        sources="; ".join(f"{s.label} {source_name(s.passage)}" for s in evidence.sources) or "-",
    )
