"""Makes one clean completion of a vendor's chunks: text, whole tool calls, usage, finish reason.

It refuses a stream that ends before its finish reason. Thinking text never passes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

from langchain_core.messages import AIMessageChunk
from langchain_core.messages.ai import InputTokenDetails, OutputTokenDetails, UsageMetadata
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk

from apps.llm.endpoints.thinking import ThinkingFilter
from apps.llm.errors import EmptyAnswerError, ModelUnavailableError
from apps.llm.pricing.usage import usage_of

if TYPE_CHECKING:
    from langchain_core.messages.tool import ToolCallChunk

RAW_USAGE = "raw_usage"  # where a chunk's generation info holds the vendor's usage object
MALFORMED_TOOL_CALL = "malformed_tool_call"  # our finish reason for arguments that are no object


@dataclass(slots=True)
class _ToolCall:
    name: str = ""
    arguments: str = ""

    def add(self, piece: ToolCallChunk) -> None:
        self.name = self.name or piece["name"] or ""
        self.arguments += piece["args"] or ""

    @property
    def is_well_formed(self) -> bool:
        try:
            return bool(self.name) and isinstance(json.loads(self.arguments or "{}"), dict)
        except ValueError:
            return False


class Completion:
    """Collects the chunks of one call to a model."""

    def __init__(self) -> None:
        self._thinking = ThinkingFilter()
        self._calls: list[_ToolCall] = []
        self._by_index: dict[int | str, _ToolCall] = {}
        self._raw_usage: object = None  # the last one: some vendors report cumulatively
        self._finish_reason: str | None = None
        self._has_text = False
        self._half = ""  # a character that two chunks share: JSON writes some as two escapes

    def take(self, chunk: ChatGenerationChunk) -> ChatGenerationChunk | None:
        """Return the chunk's text as a chunk of its own, or None when nothing may be shown yet."""
        message = chunk.message
        if isinstance(message, AIMessageChunk):
            for piece in message.tool_call_chunks:
                self._add_call(piece)
        info = chunk.generation_info or {}
        self._raw_usage = info.get(RAW_USAGE) or self._raw_usage
        self._finish_reason = info.get("finish_reason") or self._finish_reason
        return self._text_chunk(self._thinking.feed(self._whole_characters(str(message.text))))

    def finish(self) -> list[ChatGenerationChunk]:
        """Return the last chunks: held text, then tool calls, usage and the finish reason.

        Raises:
            EmptyAnswerError: the stream carried nothing at all.
            ModelUnavailableError: the stream ended before the model had finished.
        """
        if self._finish_reason is None:
            raise ModelUnavailableError if self._has_text or self._calls else EmptyAnswerError
        held = self._text_chunk(self._thinking.flush())
        return [*([held] if held else []), self._last_chunk()]

    def _add_call(self, piece: ToolCallChunk) -> None:
        index = piece["index"]
        key = index if index is not None else piece["id"] or "only"
        call = self._by_index.get(key)
        if call is None:
            call = self._by_index[key] = _ToolCall()
            self._calls.append(call)
        call.add(piece)

    def _whole_characters(self, text: str) -> str:
        """Join surrogates that stand for one character; lone ones, which nothing takes, go."""
        text = self._half + text
        self._half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        whole = text[: len(text) - len(self._half)]
        return whole.encode("utf-16", "surrogatepass").decode("utf-16", "ignore")

    def _text_chunk(self, text: str) -> ChatGenerationChunk | None:
        if not text:
            return None
        self._has_text = True
        return ChatGenerationChunk(message=AIMessageChunk(content=text))

    def _last_chunk(self) -> ChatGenerationChunk:
        well_formed = all(call.is_well_formed for call in self._calls)
        message = AIMessageChunk(
            content="",
            tool_call_chunks=self._whole_calls() if well_formed else [],
            usage_metadata=_usage_metadata(self._raw_usage),
        )
        reason = self._finish_reason if well_formed else MALFORMED_TOOL_CALL
        return ChatGenerationChunk(message=message, generation_info={"finish_reason": reason})

    def _whole_calls(self) -> list[ToolCallChunk]:
        """Return the calls with ids of our own: some vendors leave them out or use one again."""
        return [
            tool_call_chunk(
                name=call.name,
                args=call.arguments or "{}",
                id=f"call_{uuid4().hex}",
                index=position,
            )
            for position, call in enumerate(self._calls)
        ]


def _usage_metadata(raw: object) -> UsageMetadata | None:
    usage = usage_of(raw)
    if usage is None:
        return None
    return UsageMetadata(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        total_tokens=usage.input_tokens + usage.output_tokens,
        input_token_details=InputTokenDetails(
            cache_read=usage.cached_tokens, cache_creation=usage.cache_creation_tokens
        ),
        output_token_details=OutputTokenDetails(reasoning=usage.reasoning_tokens),
    )
