"""Builds the main agent: it writes the answer from the evidence, its only tool is `research`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain.agents import create_agent

from apps.agents.answer.research_limit import LimitResearch
from apps.agents.answer.research_required import RequireResearch
from apps.agents.answer.research_tool import research_tool
from apps.agents.middleware.chain import Chain
from apps.agents.middleware.completion_check import CheckCompletion
from apps.agents.middleware.context_trim import TrimContext
from apps.agents.middleware.malformed_calls import RetryMalformedCalls
from apps.agents.middleware.stage_prompt import StagePrompt
from apps.agents.middleware.usage_report import ReportUsage
from apps.agents.model_calls import check_whole
from apps.agents.prompts import blueprints
from apps.agents.run_context import RunContext

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langgraph.graph.state import CompiledStateGraph

    from apps.agents.answer.research_tool import Research
    from apps.agents.prompts import Language


def build_main_agent(
    model: BaseChatModel, language: Language, research: Research
) -> CompiledStateGraph[Any, RunContext, Any, Any]:
    """Return the agent; `research` is what its tool runs."""
    blueprint = blueprints().agent("organization")
    agent: CompiledStateGraph[Any, RunContext, Any, Any] = create_agent(
        model,
        [research_tool(language, research)],
        middleware=[
            Chain(
                StagePrompt("organization"),
                RequireResearch(),
                LimitResearch(),
                RetryMalformedCalls(),
                CheckCompletion(check_whole),
                TrimContext("organization"),
                ReportUsage("organization"),
            )
        ],
        context_schema=RunContext,
        name=blueprint.name,
    )
    return agent.with_config(tags=[blueprint.tag], run_name=blueprint.name)
