"""Turns the conversation and the research into messages for a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langchain_core.messages import AIMessage, HumanMessage

from apps.agents.prompts.prompt_safety import defused

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from langchain_core.messages import BaseMessage

    from apps.agents.events import Turn
    from apps.agents.run_context import RunContext


def conversation(run: RunContext) -> list[BaseMessage]:
    """Return the earlier turns and the question; old answers come without labels."""
    return [*_earlier(run.history), HumanMessage(run.question)]


def tool_queries(messages: Iterable[BaseMessage]) -> list[str]:
    """Return the `query` of every tool call so far, in order."""
    return [
        str(call["args"].get("query", "")).strip()
        for message in messages
        if isinstance(message, AIMessage)
        for call in message.tool_calls
    ]


def _earlier(history: Sequence[Turn]) -> list[BaseMessage]:
    return [
        HumanMessage(turn.content) if turn.role == "user" else AIMessage(defused(turn.content))
        for turn in history
    ]
