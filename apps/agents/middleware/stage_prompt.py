"""Puts the stage's system prompt, in the asker's language and with the profile, before a call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import SystemMessage

from apps.agents.prompts.stage_prompts import stage_prompt

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from langchain.agents.middleware import ModelRequest, ModelResponse

    from apps.agents.events import Stage


class StagePrompt(AgentMiddleware[Any, Any]):
    """Agents are shared between people, so the prompt is chosen per call."""

    def __init__(self, stage: Stage) -> None:
        super().__init__()
        self._stage = stage

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Call the model with the system prompt."""
        prompt = stage_prompt(self._stage, request.runtime.context)
        return await handler(request.override(system_message=SystemMessage(prompt)))
