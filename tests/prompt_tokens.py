"""How many tokens a chat request has, by part, as prices estimate them (pure)."""

from __future__ import annotations

import json
from typing import Any

from apps.llm.pricing.token_estimate import TOKENS_PER_MESSAGE, estimated_tokens


def prompt_parts(body: dict[str, Any]) -> list[tuple[str, int]]:
    """Return the tokens of each message, by role, tool calls included, and of the tools."""
    messages: list[dict[str, Any]] = body["messages"]
    parts = [(str(m["role"]), estimated_tokens(_said(m)) + TOKENS_PER_MESSAGE) for m in messages]
    tools = json.dumps(body["tools"], ensure_ascii=False) if "tools" in body else ""
    return [*parts, ("tools", estimated_tokens(tools))]


def prompt_tokens(body: dict[str, Any]) -> int:
    """Return the tokens of all that a request says to a model."""
    return sum(tokens for _, tokens in prompt_parts(body))


def _said(message: dict[str, Any]) -> str:
    calls = message.get("tool_calls")
    return str(message.get("content") or "") + (
        json.dumps(calls, ensure_ascii=False) if calls else ""
    )
