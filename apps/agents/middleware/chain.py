"""Runs several middlewares as one.

LangChain wraps each middleware for tracing, at the price of two thread switches and a task per
call, with tracing off too; a chain pays it once.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import AgentMiddleware

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from langchain.agents.middleware import ModelRequest, ModelResponse


class Chain(AgentMiddleware[Any, Any]):
    """Its links see a call in the order given, the last one stands next to the model."""

    def __init__(self, *links: AgentMiddleware[Any, Any]) -> None:
        super().__init__()
        self._links = links

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Call the model through all links."""
        for link in reversed(self._links):
            handler = partial(link.awrap_model_call, handler=handler)
        return await handler(request)
