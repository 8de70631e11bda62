"""Reports each call to a model: tokens as the provider gave them, and how long it took."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import AgentMiddleware

from apps.agents.model_calls import ai_message, reported_reply, usage_event

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
        """Call the model, report the call to the run's log and emit a UsageReported event."""
        started_at = time.monotonic()
        with reported_reply(request.runtime.context, self._stage):
            response = await handler(request)
        event = usage_event(self._stage, ai_message(response), started_at=started_at)
        request.runtime.context.emit(event)
        return response
