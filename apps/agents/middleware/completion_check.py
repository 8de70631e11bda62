"""Refuses a reply that the vendor filtered or, where it is the answer, cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import AgentMiddleware

from apps.agents.model_calls import ai_message

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from langchain.agents.middleware import ModelRequest, ModelResponse
    from langchain_core.messages import AIMessage


class CheckCompletion(AgentMiddleware[Any, Any]):
    """Applies one of the checks of `model_calls` to every reply."""

    def __init__(self, check: Callable[[AIMessage], None]) -> None:
        super().__init__()
        self._check = check

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Call the model; raise ContentFilteredError or AnswerTruncatedError."""
        response = await handler(request)
        self._check(ai_message(response))
        return response
