"""How endpoints refuse a prompt that is longer than the model's context, in their own words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_TOO_LONG = "This model's maximum context length is {limit} tokens. However, "
ERRORS: dict[str, dict[str, Any]] = {
    "openai": {
        "message": _TOO_LONG + "your messages resulted in {size} tokens.",
        "type": "invalid_request_error",
        "param": "messages",
        "code": "context_length_exceeded",
    },
    "dashscope": {
        "message": "<400> InternalError.Algo.InvalidParameter: "
        "Range of input length should be [1, {limit}]",
        "type": "invalid_request_error",
        "param": None,
        "code": "invalid_parameter_error",
    },
    "deepseek": {
        "message": _TOO_LONG + "you requested {size} tokens ({size} in the messages, 0 in the"
        " completion). Please reduce the length of the messages or completion.",
        "type": "invalid_request_error",
        "param": None,
        "code": "invalid_request_error",
    },
}


@dataclass(frozen=True, slots=True)
class PromptLimit:
    """The most characters of a prompt besides its system messages, and who refuses longer ones.

    With `tool` it holds only for requests that offer this tool.
    """

    chars: int
    form: str = "openai"
    tool: str | None = None

    def refusal(self, body: dict[str, Any]) -> dict[str, Any] | None:
        """Return the error that a request is answered with, None when it is short enough."""
        tools = [tool["function"]["name"] for tool in body.get("tools", ())]
        size = prompt_chars(body)
        if size <= self.chars or (self.tool is not None and self.tool not in tools):
            return None
        error = ERRORS[self.form]
        message = error["message"].format(limit=self.chars, size=size)
        return {"error": error | {"message": message}}


def prompt_chars(body: dict[str, Any]) -> int:
    """Return the length of a request's messages, without those of the system."""
    return sum(len(m["content"] or "") for m in body["messages"] if m["role"] != "system")
