"""Makes sure that the question itself was searched before the research ends without evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from langchain.agents.middleware import AgentMiddleware, ModelResponse
from langchain_core.messages import HumanMessage, ToolMessage

from apps.agents.conversation import tool_queries
from apps.agents.model_calls import ai_message
from apps.agents.research.search_tool import NAME

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from langchain.agents.middleware import ModelRequest
    from langchain_core.messages import BaseMessage

    from apps.agents.run_context import RunLimits


class RequireSearch(AgentMiddleware[Any, Any]):
    """Adds the search call that a model left out: a model that does not search, or only in words
    that find nothing, must not turn an answerable question into a refusal.
    """

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Call the model; a reply that would end in vain becomes a search call."""
        response = await handler(request)
        message = ai_message(response)
        question = next(m.text for m in request.messages if isinstance(m, HumanMessage))
        limits: RunLimits = request.runtime.context.limits
        made = tool_queries(request.messages)
        is_possible = question.strip() not in made and len(made) < limits.max_searches
        if message.tool_calls or not is_possible or _has_evidence(request.messages, limits):
            return response
        call = {"name": NAME, "args": {"query": question}, "id": f"call_{uuid4().hex}"}
        forced = message.model_copy(update={"tool_calls": [call | {"type": "tool_call"}]})
        return ModelResponse(result=[forced])


def _has_evidence(messages: Iterable[BaseMessage], limits: RunLimits) -> bool:
    lowest = -1.0 if limits.evidence_threshold is None else limits.evidence_threshold
    found = [m.artifact for m in messages if isinstance(m, ToolMessage) and m.artifact]
    return any(passage.score >= lowest for passages in found for passage in passages)
