"""Ends the loop of a main agent that asks for research again instead of answering."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import ToolMessage

from apps.agents.answer.research_required import has_evidence
from apps.agents.errors import ToolLimitError
from apps.agents.model_calls import ai_message
from apps.agents.prompts import blueprints

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from langchain.agents.middleware import ModelRequest, ModelResponse
    from langchain_core.messages import AIMessage, BaseMessage


class LimitResearch(AgentMiddleware[Any, Any]):
    """Tells the model that the research is complete, and gives up when it calls again."""

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Call the model; after the evidence is there, only a reply without calls is returned."""
        if not has_evidence(request.messages):
            return await handler(request)
        loaded = blueprints()
        for _ in range(loaded.workflow.research_reminders + 1):
            response = await handler(request)
            message = ai_message(response)
            if not message.tool_calls:
                return response
            note = loaded.texts.research_done.render(
                request.runtime.context.user.language, marker=loaded.workflow.insufficient_marker
            )
            request = request.override(messages=[*request.messages, *_answered(message, note)])
        raise ToolLimitError


def _answered(message: AIMessage, note: str) -> list[BaseMessage]:
    answers = [
        ToolMessage(note, tool_call_id=call["id"] or "", name=call["name"], status="error")
        for call in message.tool_calls
    ]
    return [message, *answers]
