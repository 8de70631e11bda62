"""Keeps the main agent from answering without research."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from langchain.agents.middleware import AgentMiddleware, ModelResponse
from langchain_core.messages import AIMessage, ToolMessage

from apps.agents.answer.research_tool import NAME
from apps.core.passages import Evidence

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from langchain.agents.middleware import ModelRequest
    from langchain_core.messages import BaseMessage


class RequireResearch(AgentMiddleware[Any, Any]):
    """Calls `research` in the model's place as long as there is no successful one.

    After it, the model may only answer: a tool choice of "none" goes with the call.
    """

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Return a research call without asking the model, or the model's answer."""
        if has_evidence(request.messages):
            return await handler(request.override(tool_choice="none"))
        call = {
            "name": NAME,
            "args": {"query": request.runtime.context.question},
            "id": f"call_{uuid4().hex}",
            "type": "tool_call",
        }
        return ModelResponse(result=[AIMessage(content="", tool_calls=[call])])


def has_evidence(messages: Iterable[BaseMessage]) -> bool:
    """Whether a successful research is among the messages."""
    return any(isinstance(m, ToolMessage) and isinstance(m.artifact, Evidence) for m in messages)
