"""Answers one question: starts the graph and yields what happens as typed events.

Cheap to import: the frameworks are loaded by `warm_up` or by the first question.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from django.conf import settings

from apps.agents.context import RunContext, RunLimits
from apps.agents.events import RunFinished
from apps.agents.prompts import LANGUAGES, prompt_config
from apps.agents.tracing import run_config
from apps.llm.factory import chat_model_name, evidence_threshold

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from apps.agents.context import UserAgentContext
    from apps.agents.events import RunEvent, Stage, Turn
    from apps.agents.graph import FlowGraph
    from apps.agents.prompts import Language
    from apps.core.passages import SearchPort
    from apps.llm.calls import CallLog

_Events = asyncio.Queue["RunEvent | None"]  # None ends the run


def warm_up() -> None:
    """Load the frameworks and build the agents; slow, callable in any thread."""
    from apps.agents.graph import flow_graph  # noqa: PLC0415 - seconds of imports

    prompt_config()
    for language in LANGUAGES:
        flow_graph(language)


async def answer_question(
    question: str,
    *,
    history: Sequence[Turn],
    context: UserAgentContext,
    search: SearchPort,
    calls: CallLog | None = None,
) -> AsyncGenerator[RunEvent]:
    """Yield the events of one run, the last of which is RunFinished: the answer is whole, though
    the run may still wait a moment for the cost of a search that it did not need.

    `history` holds completed messages, oldest first; the last `KBQA_HISTORY_MESSAGE_LIMIT` count.
    `calls` learns of each request to a model before it is sent and when it ended, also of those
    that a cancelled run cuts off.
    Closing the generator or cancelling its task cancels the run and its call to a model.

    Raises:
        AppError: the run failed; what was yielded before stays true.
    """
    graph, limits = await asyncio.to_thread(_prepared, context.language)
    events: _Events = asyncio.Queue()
    kept = settings.ENV.history_message_limit
    run = RunContext(
        question=question,
        history=tuple(history[-kept:] if kept else ()),
        user=context,
        search=search,
        limits=limits,
        emit=events.put_nowait,
        calls=calls,
    )
    task = asyncio.create_task(_drive(graph, run, events))
    try:
        while (event := await events.get()) is not None:
            yield event
        await task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _prepared(language: Language) -> tuple[FlowGraph, RunLimits]:
    from apps.agents.graph import flow_graph  # noqa: PLC0415 - seconds of imports

    env = settings.ENV
    limits = RunLimits(
        top_k=env.retrieval_top_k,
        max_searches=env.max_research_searches,
        max_sources=env.max_sources,
        evidence_threshold=evidence_threshold(),
    )
    return flow_graph(language), limits


def _finished(state: dict[str, Any]) -> RunFinished:
    stage: Stage = "intent" if state["outcome"] == "direct" else "organization"
    return RunFinished(
        outcome=state["outcome"],
        text=state["text"],
        sources=state["evidence"].sources if "evidence" in state else (),
        model=chat_model_name(stage),
        cited_labels=state.get("cited_labels", ()),
    )


async def _drive(graph: FlowGraph, run: RunContext, events: _Events) -> None:
    try:
        async with run.at_end:
            state = await graph.ainvoke({}, run_config(), context=run)
            run.emit(_finished(state))
    finally:
        events.put_nowait(None)
