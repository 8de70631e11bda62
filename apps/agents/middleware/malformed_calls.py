"""Repeats a call whose tool arguments were malformed; gives up with a clear error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import SystemMessage

from apps.agents.model_calls import ai_message, finish_reason
from apps.agents.prompts import blueprints
from apps.llm.errors import MalformedToolCallError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from langchain.agents.middleware import ModelRequest, ModelResponse

MALFORMED = "malformed_tool_call"


class RetryMalformedCalls(AgentMiddleware[Any, Any]):
    """Without it an agent would end silently, with an empty text."""

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Call the model, once more with a note after malformed arguments."""
        loaded = blueprints()
        note = loaded.texts.call_malformed.render(request.runtime.context.user.language)
        for _ in range(loaded.workflow.malformed_call_retries + 1):
            response = await handler(request)
            message = ai_message(response)
            if finish_reason(message) != MALFORMED and not message.invalid_tool_calls:
                return response
            request = request.override(messages=[*request.messages, SystemMessage(note)])
        raise MalformedToolCallError
