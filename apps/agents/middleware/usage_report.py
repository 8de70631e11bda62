"""Reports each call to a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import AgentMiddleware

from apps.agents.model_calls import reported_reply

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from langchain.agents.middleware import ModelRequest, ModelResponse

    from apps.agents.events import Stage


class ReportUsage(AgentMiddleware[Any, Any]):
    """Stands next to the model, so that it sees every call, also one that is repeated."""

    def __init__(self, stage: Stage) -> None:
        super().__init__()
        self._stage = stage

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Call the model, report the call to the run's log and emit a ModelCalled event."""
        with reported_reply(request.runtime.context, self._stage):
            return await handler(request)
