"""The LangGraph flow: intent, then, unless it answers directly, execution and organization.

The first search runs beside the intent stage. When a rule finds its evidence enough, the main
agent writes at once; when the main agent does not, the flow turns back to `search_on`, once.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial
from threading import RLock
from typing import TYPE_CHECKING, Any, TypedDict

from django.conf import settings
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime  # noqa: TC002 - LangGraph reads the annotations

from apps.agents.answer.agent import build_main_agent
from apps.agents.answer.stage import quote_answer, refusal_text, write_answer
from apps.agents.context import RunContext
from apps.agents.events import (
    AnswerStarted,
    EndedBy,
    IntentResult,
    OrganizationResult,
    Outcome,
    SourcesFound,
    StageFinished,
    StageStarted,
    TokenProduced,
)
from apps.agents.intent.direct_replies import standalone_question
from apps.agents.intent.stage import intent_by_rules, recognise_intent
from apps.agents.model_calls import stage_limit
from apps.agents.prompts import prompt_config
from apps.agents.research.agent import build_research_agent
from apps.agents.research.evidence import is_sufficient
from apps.agents.research.searches import EarlySearch
from apps.agents.research.stage import (
    execution_result,
    research,
    research_early,
    research_embedded,
)
from apps.core.passages import Evidence, Search  # noqa: TC001 - LangGraph reads the annotations
from apps.llm.factory import chat_is_embedded, chat_model, embedded_chat_model

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from langgraph.graph.state import CompiledStateGraph

    from apps.agents.answer.answer_stream import AnswerStream
    from apps.agents.events import RunEvent
    from apps.agents.prompts import Language
    from kbqa_project.env import Environment

type FlowGraph = CompiledStateGraph[Any, RunContext, Any, Any]

_building = RLock()


class FlowState(TypedDict, total=False):
    """What the stages hand on; `outcome` and `text` are set by the stage that ends the run."""

    early: EarlySearch
    intent: IntentResult
    first: Search
    evidence: Evidence
    ended_by: EndedBy
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
    graph.add_node("search_on", stages.search_on)
    graph.add_node("organization", stages.organization)
    graph.add_node("refusal", _refuse)
    graph.add_edge(START, "intent")
    graph.add_conditional_edges("intent", _after_intent, [END, "execution"])
    graph.add_conditional_edges("execution", _after_execution, ["search_on", "organization"])
    graph.add_conditional_edges("search_on", _after_search_on, ["refusal", "organization"])
    following = [END, "search_on", "refusal"]
    graph.add_conditional_edges("organization", _after_organization, following)
    graph.add_edge("refusal", END)
    return graph.compile(name="answer_question")


class _Stages:
    """The nodes that call models, bound to the models of one configuration and language."""

    def __init__(self, language: Language) -> None:
        self._recognise = _recogniser()
        self._research, self._saves_calls = _researcher(language)
        self._answer = _writer(language, self._research)

    async def intent(self, state: FlowState, runtime: Runtime[RunContext]) -> FlowState:
        run = runtime.context
        run.emit(StageStarted("intent"))
        early = EarlySearch(run, standalone_question(run))
        async with stage_limit("intent"):
            result = await self._recognise(run)
        if result.route != prompt_config().workflow.short_circuit.route:
            run.emit(StageFinished("intent", result))
            return {"intent": result, "early": early}
        run.emit(StageFinished("intent", result, discarded_call_id=early.call_id))
        text = result.assistant_text or ""
        run.emit(TokenProduced(text))
        run.at_end.push_async_callback(early.discard)  # the reply is whole without it
        return {"intent": result, "outcome": "direct", "text": text}

    async def execution(self, state: FlowState, runtime: Runtime[RunContext]) -> FlowState:
        """Take the first search; it is the whole research where that saves calls and a rule
        finds it enough.
        """
        run = runtime.context
        run.emit(StageStarted("execution"))
        async with stage_limit("execution"):
            first = await state["early"].take()
        question = state["intent"].execution_brief or ""
        evidence = research_early(question, first, run) if self._saves_calls else None
        if evidence is None:
            return {"first": first}
        run.emit(StageFinished("execution", execution_result(evidence, run, "early_search")))
        return {"first": first, "evidence": evidence, "ended_by": "early_search"}

    async def search_on(self, state: FlowState, runtime: Runtime[RunContext]) -> FlowState:
        """Let the model search after the first search; then the research is over."""
        run = runtime.context
        question = state["intent"].execution_brief or ""
        async with stage_limit("execution"):
            evidence = await self._research(question, run, state["first"])
        run.emit(StageFinished("execution", execution_result(evidence, run, "research_agent")))
        run.emit(SourcesFound(evidence.sources))
        return {"evidence": evidence, "ended_by": "research_agent"}

    async def organization(self, state: FlowState, runtime: Runtime[RunContext]) -> FlowState:
        run, evidence = runtime.context, state["evidence"]
        run.emit(StageStarted("organization"))
        asked = _announcing(evidence, run) if state["ended_by"] == "early_search" else run
        async with stage_limit("organization"):
            answer = await self._answer(evidence, asked)
        return {} if answer is None else _ended(run, "answered", answer.text, answer.cited)


def _recogniser() -> Callable[[RunContext], Awaitable[IntentResult]]:
    if chat_is_embedded("intent"):
        return intent_by_rules
    return partial(recognise_intent, chat_model("intent"))


def _researcher(language: Language) -> tuple[Callable[..., Awaitable[Evidence]], bool]:
    """Return who searches on, and whether it costs calls that a rule may save.

    The embedded model researches for nothing, and better than by the first search alone
    (measured: evidence complete .98 instead of .71 where one passage names the next).
    """
    if embedded := embedded_chat_model("execution"):
        return partial(research_embedded, embedded), False
    agent = build_research_agent(chat_model("execution"), language)
    return partial(research, agent), True


def _writer(
    language: Language, research: Callable[..., Awaitable[Evidence]]
) -> Callable[[Evidence, RunContext], Awaitable[AnswerStream | None]]:
    if embedded := embedded_chat_model("organization"):
        return partial(quote_answer, embedded)
    model = chat_model("organization")
    return partial(write_answer, build_main_agent(model, language, research))


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


def _after_execution(state: FlowState) -> str:
    return "organization" if "evidence" in state else "search_on"


def _after_search_on(state: FlowState, runtime: Runtime[RunContext]) -> str:
    threshold = runtime.context.limits.evidence_threshold
    return "organization" if is_sufficient(state["evidence"], threshold) else "refusal"


def _after_organization(state: FlowState) -> str:
    """Turn back to the research when no model has searched yet."""
    if "outcome" in state:
        return END
    return "search_on" if state["ended_by"] == "early_search" else "refusal"
