"""Builds the research agent: it searches the documents and does nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain.agents import create_agent

from apps.agents.middleware.chain import Chain
from apps.agents.middleware.completion_check import CheckCompletion
from apps.agents.middleware.context_trim import TrimContext
from apps.agents.middleware.malformed_calls import RetryMalformedCalls
from apps.agents.middleware.stage_prompt import StagePrompt
from apps.agents.middleware.usage_report import ReportUsage
from apps.agents.model_calls import check_not_filtered
from apps.agents.prompts import blueprints
from apps.agents.research.search_limit import LimitSearches
from apps.agents.research.search_required import RequireSearch
from apps.agents.research.search_tool import search_tool
from apps.agents.run_context import RunContext

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langgraph.graph.state import CompiledStateGraph

    from apps.agents.prompts import Language


def build_research_agent(
    model: BaseChatModel, language: Language
) -> CompiledStateGraph[Any, RunContext, Any, Any]:
    """Return the agent; a run's own values come with its RunContext."""
    blueprint = blueprints().agent("execution")
    agent: CompiledStateGraph[Any, RunContext, Any, Any] = create_agent(
        model,
        [search_tool(language)],
        middleware=[
            Chain(
                StagePrompt("execution"),
                RequireSearch(),
                LimitSearches(),
                RetryMalformedCalls(),
                CheckCompletion(check_not_filtered),
                TrimContext("execution"),
                ReportUsage("execution"),
            )
        ],
        context_schema=RunContext,
        name=blueprint.name,
    )
    return agent.with_config(tags=[blueprint.tag], run_name=blueprint.name)
