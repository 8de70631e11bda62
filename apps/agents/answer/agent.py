"""The main agent of an endpoint's model: it writes the answer, its only tool is `research`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ModelResponse
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import StructuredTool
from langgraph.prebuilt import ToolRuntime  # noqa: TC002 - read at run time

from apps.agents.context import RunContext
from apps.agents.errors import ToolLimitError
from apps.agents.messages import RESEARCH_TOOL, evidence_content
from apps.agents.model_calls import CallModel, Chain, RetryMalformedCalls, ai_message, check_whole
from apps.agents.prompts import prompt_config
from apps.core.passages import Evidence

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage
    from langgraph.graph.state import CompiledStateGraph

    from apps.agents.model_calls import Handler, Request, Response
    from apps.agents.prompts import Language

    Research = Callable[[str, RunContext], Awaitable[Evidence]]


def build_main_agent(
    model: BaseChatModel, language: Language, research: Research
) -> CompiledStateGraph[Any, RunContext, Any, Any]:
    """Return the agent; `research` is what its tool runs."""
    form = prompt_config().agent("organization")
    links = (RequireResearch(), RetryMalformedCalls(), CallModel("organization", check_whole))
    agent: CompiledStateGraph[Any, RunContext, Any, Any] = create_agent(
        model,
        [research_tool(language, research)],
        middleware=[Chain(*links)],
        context_schema=RunContext,
        name=form.name,
    )
    return agent.with_config(tags=[form.tag], run_name=form.name)


def research_tool(language: Language, research: Research) -> StructuredTool:
    """Return the agent's only tool: the whole research of a question, as evidence."""

    async def call(query: str, runtime: ToolRuntime[RunContext]) -> tuple[str, Evidence]:
        evidence = await research(query, runtime.context)
        return evidence_content(evidence, runtime.context), evidence

    form = prompt_config().tools.research
    return StructuredTool.from_function(
        coroutine=call,
        name=RESEARCH_TOOL,
        description=form.description.render(language),
        args_schema=form.parameters_model(RESEARCH_TOOL, language),
        response_format="content_and_artifact",
    )


class RequireResearch(AgentMiddleware[Any, Any]):
    """Calls `research` in the model's place as long as there is no successful one.

    After it the model may only answer: a tool choice of "none" goes with the call. One that calls
    again is told that the research is complete, and given up when it does not heed that.
    """

    async def awrap_model_call(self, request: Request, handler: Handler) -> Response:
        """Return a research call without asking the model, or the model's reply without calls."""
        run: RunContext = request.runtime.context
        found = (m.artifact for m in request.messages if isinstance(m, ToolMessage))
        if not any(isinstance(artifact, Evidence) for artifact in found):
            call = {"name": RESEARCH_TOOL, "args": {"query": run.question}, "type": "tool_call"}
            call["id"] = f"call_{uuid4().hex}"
            return ModelResponse(result=[AIMessage(content="", tool_calls=[call])])
        loaded = prompt_config()
        request = request.override(tool_choice="none")
        for _ in range(loaded.workflow.research_reminders + 1):
            response = await handler(request)
            message = ai_message(response)
            if not message.tool_calls:
                return response
            note = loaded.texts.research_done.render(
                run.user.language, marker=loaded.workflow.insufficient_marker
            )
            request = request.override(messages=[*request.messages, *_answered(message, note)])
        raise ToolLimitError


def _answered(message: AIMessage, note: str) -> list[BaseMessage]:
    answers = [
        ToolMessage(note, tool_call_id=call["id"] or "", name=call["name"], status="error")
        for call in message.tool_calls
    ]
    return [message, *answers]
