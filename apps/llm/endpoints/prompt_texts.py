"""The texts of messages and tool definitions that a vendor counts as tokens (pure)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, AIMessageChunk

if TYPE_CHECKING:
    from collections.abc import Iterable

    from langchain_core.messages import BaseMessage


def prompt_texts(messages: Iterable[BaseMessage], tools: Iterable[Any] = ()) -> list[str]:
    """Return one text per message, with the arguments of its tool calls, and one per tool."""
    texts = [str(message.text) + "".join(_arguments(message)) for message in messages]
    return texts + [json.dumps(tool, ensure_ascii=False, default=str) for tool in tools]


def _arguments(message: BaseMessage) -> list[str]:
    if isinstance(message, AIMessageChunk):
        pieces = message.tool_call_chunks
        return [f"{piece['name'] or ''}{piece['args'] or ''}" for piece in pieces]
    if isinstance(message, AIMessage):
        calls = message.tool_calls
        return [call["name"] + json.dumps(call["args"], ensure_ascii=False) for call in calls]
    return []
