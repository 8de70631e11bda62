"""The research agent of an endpoint's model: it searches the documents and does nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ModelResponse
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import StructuredTool
from langgraph.prebuilt import ToolRuntime  # noqa: TC002 - read at run time

from apps.agents.context import RunContext
from apps.agents.messages import SEARCH_TOOL, is_first_search, search_content
from apps.agents.model_calls import (
    CallModel,
    Chain,
    RetryMalformedCalls,
    ai_message,
    check_not_filtered,
)
from apps.agents.prompts import prompt_config
from apps.agents.research.searches import searched
from apps.core.passages import Passage  # noqa: TC001 - read at run time

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import ToolCall
    from langgraph.graph.state import CompiledStateGraph

    from apps.agents.model_calls import Handler, Request, Response
    from apps.agents.prompts import Language


def build_research_agent(
    model: BaseChatModel, language: Language
) -> CompiledStateGraph[Any, RunContext, Any, Any]:
    """Return the agent; a run's own values come with its RunContext."""
    form = prompt_config().agent("execution")
    links = (
        *(RequireSearch(), LimitSearches(), RetryMalformedCalls()),
        CallModel("execution", check_not_filtered),
    )
    agent: CompiledStateGraph[Any, RunContext, Any, Any] = create_agent(
        model,
        [search_tool(language)],
        middleware=[Chain(*links)],
        context_schema=RunContext,
        name=form.name,
    )
    return agent.with_config(tags=[form.tag], run_name=form.name)


def search_tool(language: Language) -> StructuredTool:
    """Return the agent's only tool, one search among the asker's documents."""
    form = prompt_config().tools.search_knowledge_base
    return StructuredTool.from_function(
        coroutine=_search,
        name=SEARCH_TOOL,
        description=form.description.render(language),
        args_schema=form.parameters_model(SEARCH_TOOL, language),
        response_format="content_and_artifact",
    )


async def _search(query: str, runtime: ToolRuntime[RunContext]) -> tuple[str, tuple[Passage, ...]]:
    run = runtime.context
    search = await searched(run, query, call_id=runtime.tool_call_id or "")
    return search_content(search.passages, run), search.passages


class LimitSearches(AgentMiddleware[Any, Any]):
    """Ends the research without a further call when no search is left or the model was asked
    often enough; drops the search calls above the limit and those that were made before.

    A reply without calls ends the agent: what was found so far is the evidence.
    """

    async def awrap_model_call(self, request: Request, handler: Handler) -> Response:
        """Call the model, if it still may search, and trim its search calls."""
        run: RunContext = request.runtime.context
        made = [search.query.strip() for search in run.searches]
        left = run.limits.max_searches - len(made)
        replies = [m for m in request.messages if isinstance(m, AIMessage)]
        asked = sum(not is_first_search(reply) for reply in replies)
        if left <= 0 or asked >= prompt_config().workflow.research_model_calls:
            return ModelResponse(result=[AIMessage(content="")])
        response = await handler(request)
        message = ai_message(response)
        kept: list[ToolCall] = []
        for call in message.tool_calls:
            query = str(call["args"].get("query", "")).strip()
            if query not in made and len(kept) < left:
                kept.append(call)
                made.append(query)
        if len(kept) == len(message.tool_calls):
            return response
        return ModelResponse(result=[message.model_copy(update={"tool_calls": kept})])


class RequireSearch(AgentMiddleware[Any, Any]):
    """Adds the search call that a model left out: a model that does not search, or only in words
    that find nothing, must not turn an answerable question into a refusal.
    """

    async def awrap_model_call(self, request: Request, handler: Handler) -> Response:
        """Call the model; a reply that would end in vain becomes a search call."""
        response = await handler(request)
        message = ai_message(response)
        run: RunContext = request.runtime.context
        question = next(m.text for m in request.messages if isinstance(m, HumanMessage))
        made = [search.query.strip() for search in run.searches]
        is_possible = question.strip() not in made and len(made) < run.limits.max_searches
        if message.tool_calls or not is_possible or _has_evidence(run):
            return response
        call = {"name": SEARCH_TOOL, "args": {"query": question}, "id": f"call_{uuid4().hex}"}
        forced = message.model_copy(update={"tool_calls": [call | {"type": "tool_call"}]})
        return ModelResponse(result=[forced])


def _has_evidence(run: RunContext) -> bool:
    threshold = run.limits.evidence_threshold
    lowest = -1.0 if threshold is None else threshold
    return any(p.score >= lowest for search in run.searches for p in search.passages)
