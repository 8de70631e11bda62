"""Calls the model again with a shorter prompt when it refuses one as too long."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import AgentMiddleware

from apps.agents.trimming import within_context

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from langchain.agents.middleware import ModelRequest, ModelResponse
    from langchain_core.messages import BaseMessage

    from apps.agents.events import Stage


class TrimContext(AgentMiddleware[Any, Any]):
    """Stands around the report of calls, so that each refused request is reported too."""

    def __init__(self, stage: Stage) -> None:
        super().__init__()
        self._stage = stage

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Call the model with the messages, or with what of them it accepts."""

        async def send(messages: list[BaseMessage]) -> ModelResponse[Any]:
            return await handler(request.override(messages=messages))

        return await within_context(
            send, request.messages, stage=self._stage, run=request.runtime.context
        )
