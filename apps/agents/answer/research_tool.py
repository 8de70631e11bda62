"""The main agent's only tool: the whole research of a question, as evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langchain_core.tools import StructuredTool
from langgraph.prebuilt import ToolRuntime  # noqa: TC002 - read at run time

from apps.agents.prompts import blueprints
from apps.agents.prompts.prompt_safety import defused
from apps.agents.prompts.tool_parameters import parameters_model
from apps.agents.research.evidence import passage_block
from apps.agents.run_context import RunContext  # noqa: TC001 - read at run time
from apps.core.passages import Evidence  # noqa: TC001 - read at run time

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from apps.agents.prompts import Language
    from apps.agents.results import ExecutionResult

    Research = Callable[[str, RunContext], Awaitable[tuple[ExecutionResult, Evidence]]]

NAME = "research"
LONGEST_SUMMARY = 2000  # characters


def research_tool(language: Language, research: Research) -> StructuredTool:
    """Return the tool with its description in `language`; `research` runs the research agent."""

    async def call(query: str, runtime: ToolRuntime[RunContext]) -> tuple[str, Evidence]:
        result, evidence = await research(query, runtime.context)
        return evidence_content(result.report_brief, evidence, runtime.context), evidence

    blueprint = blueprints().tools.research
    return StructuredTool.from_function(
        coroutine=call,
        name=NAME,
        description=blueprint.description.render(language),
        args_schema=parameters_model(NAME, blueprint, language),
        response_format="content_and_artifact",
    )


def evidence_content(summary: str, evidence: Evidence, run: RunContext) -> str:
    """Return what the main agent reads: summary, numbered passages as data, usable labels."""
    labels = [source.label for source in evidence.sources]
    return blueprints().texts.evidence.render(
        run.user.language,
        summary=defused(summary)[:LONGEST_SUMMARY],
        passages=passage_block([source.passage for source in evidence.sources], labels),
        labels=" ".join(f"[{label}]" for label in labels),
    )
