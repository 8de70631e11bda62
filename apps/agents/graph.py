"""The LangGraph flow: intent, then, unless it answers directly, execution and organization.

The first search runs beside the intent stage. When a rule finds its evidence enough, the main
agent writes at once; when the main agent does not, the research agent searches on, once.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial
from threading import RLock
from typing import TYPE_CHECKING, Any, TypedDict

from django.conf import settings
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime  # noqa: TC002 - LangGraph reads the annotations

from apps.agents.answer.refusals import refusal_text
from apps.agents.answer.stage import write_answer
from apps.agents.events import (
    AnswerStarted,
    Outcome,
    SourcesFound,
    StageFinished,
    StageStarted,
    TokenProduced,
)
from apps.agents.intent.stage import recognise_intent
from apps.agents.main_agent import build_main_agent
from apps.agents.prompts import blueprints
from apps.agents.research.evidence import is_sufficient
from apps.agents.research.first_search import EarlySearch, FirstSearch
from apps.agents.research.stage import research, research_early
from apps.agents.research_agent import build_research_agent
from apps.agents.results import ExecutionResult, IntentResult, OrganizationResult
from apps.agents.run_context import RunContext
from apps.agents.stage_limit import stage_limit
from apps.core.passages import Evidence  # noqa: TC001 - LangGraph reads the annotations
from apps.llm.factory import chat_is_embedded, chat_model

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

    from apps.agents.events import RunEvent
    from apps.agents.prompts import Language
    from kbqa_project.env import Environment

type FlowGraph = CompiledStateGraph[Any, RunContext, Any, Any]

_building = RLock()


class FlowState(TypedDict, total=False):
    """What the stages hand on; `outcome` and `text` are set by the stage that ends the run.

    The research `is_open` when no model has searched yet; then organization may hand back to
    execution, which finds `first` to go on from.
    """

    early: EarlySearch
    intent: IntentResult
    first: FirstSearch
    execution: ExecutionResult
    evidence: Evidence
    is_open: bool
    outcome: Outcome
    text: str
    cited_labels: tuple[str, ...]


def flow_graph(language: Language) -> FlowGraph:
    """Return the compiled flow for the active models; built once per configuration."""
    with _building:
        return _flow_graph(settings.ENV, language)


@lru_cache(maxsize=8)
def _flow_graph(env: Environment, language: Language) -> FlowGraph:
    del env  # the key of the cache: another configuration has other models
    stages = _Stages(language)
    graph = StateGraph(FlowState, context_schema=RunContext)
    graph.add_node("intent", stages.intent)
    graph.add_node("execution", stages.execution)
    graph.add_node("organization", stages.organization)
    graph.add_node("refusal", _refuse)
    graph.add_edge(START, "intent")
    graph.add_conditional_edges("intent", _after_intent, [END, "execution"])
    graph.add_conditional_edges("execution", _after_execution, ["refusal", "organization"])
    graph.add_conditional_edges("organization", _after_organization, [END, "execution"])
    graph.add_edge("refusal", END)
    return graph.compile(name="answer_question")


class _Stages:
    """The nodes that call models, bound to the agents of one configuration and language."""

    def __init__(self, language: Language) -> None:
        retries = blueprints().workflow.endpoint_retries.policy
        self._intent_model = chat_model("intent", retries)
        # The embedded model researches for nothing, and better than by the first search alone
        # (measured: evidence complete .98 instead of .71 where one passage names the next).
        self._saves_calls = not chat_is_embedded("execution")
        research_agent = build_research_agent(chat_model("execution", retries), language)
        self._research = partial(research, research_agent)
        writer = chat_model("organization", retries)
        self._main_agent = build_main_agent(writer, language, self._research)

    async def intent(self, state: FlowState, runtime: Runtime[RunContext]) -> FlowState:
        run = runtime.context
        run.emit(StageStarted("intent"))
        early = EarlySearch.start(run)
        async with stage_limit("intent"):
            result = await recognise_intent(self._intent_model, run)
        if result.route != blueprints().workflow.short_circuit.route:
            run.emit(StageFinished("intent", result))
            return {"intent": result, "early": early}
        run.emit(StageFinished("intent", result, discarded_call_id=early.call_id))
        text = result.assistant_text or ""
        run.emit(TokenProduced(text))
        await early.discard()
        return {"intent": result, "outcome": "direct", "text": text}

    async def execution(self, state: FlowState, runtime: Runtime[RunContext]) -> FlowState:
        run = runtime.context
        question = state["intent"].execution_brief or ""
        if "first" in state:
            return await self._search_on(question, state, run)
        run.emit(StageStarted("execution"))
        async with stage_limit("execution"):
            first = await state["early"].take()
        if self._saves_calls and (found := research_early(question, first, run)):
            result, evidence = found
            run.emit(StageFinished("execution", result))
            return {"first": first, "execution": result, "evidence": evidence, "is_open": True}
        return await self._search_on(question, {"first": first}, run)

    async def _search_on(self, question: str, state: FlowState, run: RunContext) -> FlowState:
        """Let the research agent search after the first search; then the research is over."""
        first = state["first"]
        async with stage_limit("execution"):
            result, evidence = await self._research(question, run, first)
        run.emit(StageFinished("execution", result))
        run.emit(SourcesFound(evidence.sources))
        return {"first": first, "execution": result, "evidence": evidence, "is_open": False}

    async def organization(self, state: FlowState, runtime: Runtime[RunContext]) -> FlowState:
        run = runtime.context
        run.emit(StageStarted("organization"))
        asked = _announcing(state["evidence"], run) if state["is_open"] else run
        async with stage_limit("organization"):
            answer = await write_answer(
                self._main_agent, state["execution"], state["evidence"], asked
            )
        if answer is not None:
            return _ended(run, "answered", answer.text, answer.cited)
        return {} if state["is_open"] else await _refuse(state, runtime)


def _announcing(evidence: Evidence, run: RunContext) -> RunContext:
    """Return the context of an answer whose sources are told when it begins, and not before."""

    def emit(event: RunEvent) -> None:
        if isinstance(event, AnswerStarted):
            run.emit(SourcesFound(evidence.sources))
        run.emit(event)

    return replace(run, emit=emit, is_research_open=True)


async def _refuse(state: FlowState, runtime: Runtime[RunContext]) -> FlowState:
    run = runtime.context
    text = refusal_text(run.question, run.user)
    run.emit(TokenProduced(text))
    return _ended(run, "insufficient_evidence", text)


def _ended(
    run: RunContext, outcome: Outcome, text: str, cited_labels: tuple[str, ...] = ()
) -> FlowState:
    metadata = {"outcome": outcome, "cited_labels": list(cited_labels)}
    result = OrganizationResult(assistant_text=text, response_metadata=metadata)
    run.emit(StageFinished("organization", result))
    return {"outcome": outcome, "text": text, "cited_labels": cited_labels}


def _after_intent(state: FlowState) -> str:
    return END if "outcome" in state else "execution"


def _after_execution(state: FlowState, runtime: Runtime[RunContext]) -> str:
    threshold = runtime.context.limits.evidence_threshold
    return "organization" if is_sufficient(state["evidence"], threshold) else "refusal"


def _after_organization(state: FlowState) -> str:
    return END if "outcome" in state else "execution"
