"""Makes sure that the research searches: an agent that stops too early searches the question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from langchain.agents.middleware import AgentMiddleware, ModelResponse
from langchain_core.messages import HumanMessage, ToolMessage

from apps.agents.model_calls import ai_message
from apps.agents.tools.search_knowledge_base import NAME

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from langchain.agents.middleware import ModelRequest


class RequireSearch(AgentMiddleware[Any, Any]):
    """Adds the search call that a model left out; it costs no call to a model."""

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Call the model; before the first search its reply becomes a search call."""
        response = await handler(request)
        message = ai_message(response)
        has_searched = any(isinstance(m, ToolMessage) for m in request.messages)
        if message.tool_calls or has_searched:
            return response
        question = next(m.text for m in request.messages if isinstance(m, HumanMessage))
        call = {"name": NAME, "args": {"query": question}, "id": f"call_{uuid4().hex}"}
        forced = message.model_copy(update={"tool_calls": [call | {"type": "tool_call"}]})
        return ModelResponse(result=[forced])
