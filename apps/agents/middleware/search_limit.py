"""Ends the research gracefully when its searches are used up or a search is repeated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import AgentMiddleware, ModelResponse

from apps.agents.conversation import tool_queries
from apps.agents.model_calls import ai_message

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from langchain.agents.middleware import ModelRequest
    from langchain_core.messages import ToolCall


class LimitSearches(AgentMiddleware[Any, Any]):
    """Drops the search calls above the limit and those that were made before.

    A reply that loses all its calls ends the agent: what was found so far is the evidence.
    """

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Call the model and trim its search calls."""
        response = await handler(request)
        message = ai_message(response)
        made = tool_queries(request.messages)
        left = request.runtime.context.limits.max_searches - len(made)
        kept: list[ToolCall] = []
        for call in message.tool_calls:
            query = str(call["args"].get("query", "")).strip()
            if query not in made and len(kept) < left:
                kept.append(call)
                made.append(query)
        if len(kept) == len(message.tool_calls):
            return response
        trimmed = message.model_copy(update={"tool_calls": kept})
        return ModelResponse(result=[trimmed])
