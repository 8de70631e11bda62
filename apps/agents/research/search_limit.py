"""Ends the research gracefully when its searches or its model calls are used up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import AgentMiddleware, ModelResponse
from langchain_core.messages import AIMessage

from apps.agents.conversation import tool_queries
from apps.agents.model_calls import ai_message
from apps.agents.prompts import blueprints
from apps.agents.research.first_search import is_first_search

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from langchain.agents.middleware import ModelRequest
    from langchain_core.messages import BaseMessage, ToolCall


class LimitSearches(AgentMiddleware[Any, Any]):
    """Ends the research without a further call when no search is left or the model was asked
    often enough; drops the search calls above the limit and those that were made before.

    A reply without calls ends the agent: what was found so far is the evidence.
    """

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Call the model, if it still may search, and trim its search calls."""
        made = tool_queries(request.messages)
        left = request.runtime.context.limits.max_searches - len(made)
        if left <= 0 or _is_asked_enough(request.messages):
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
        trimmed = message.model_copy(update={"tool_calls": kept})
        return ModelResponse(result=[trimmed])


def _is_asked_enough(messages: Iterable[BaseMessage]) -> bool:
    replies = [m for m in messages if isinstance(m, AIMessage) and not is_first_search(m)]
    return len(replies) >= blueprints().workflow.research_model_calls
