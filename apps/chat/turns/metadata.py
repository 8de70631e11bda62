"""The forms of `AgentChatMessage.metadata` (002: user_input, tool_call, tool_result, …)."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, Field

from apps.agents.events import Outcome, Stage
from apps.chat.turns.notes import TrimNote
from apps.llm.pricing.charges import CostSource

if TYPE_CHECKING:
    from collections.abc import Mapping


class UserInput(BaseModel):
    """A question, or a message that was imported with its conversation."""

    type: Literal["user_input"] = "user_input"
    imported: bool = False


class ToolFacts(BaseModel):
    """000, `metadata.tool`: which tool, how it went, and a digest of its arguments."""

    name: str
    status: Literal["called", "succeeded", "failed"]
    args_digest: str


class ToolCall(BaseModel):
    """An agent called a tool."""

    type: Literal["tool_call"] = "tool_call"
    call_id: str
    tool: ToolFacts


class ToolResult(BaseModel):
    """A tool answered."""

    type: Literal["tool_result"] = "tool_result"
    call_id: str
    tool: ToolFacts
    hit_count: int = 0
    best_score: float | None = None
    error_code: str | None = None


class StageResult(BaseModel):
    """The result contract of a stage, for the audit.

    A search that ran in vain beside the stage is charged here: `discarded_call_id` is its call.
    """

    type: Literal["stage_result"] = "stage_result"
    stage: Stage
    discarded_call_id: str | None = None


class FailureFacts(BaseModel):
    """What a person is told about a failed answer."""

    message: str
    retryable: bool


class TrimFacts(BaseModel):
    """What the model of a stage did not get, since the prompt was too long for it."""

    stage: Stage
    history_messages: int
    sources: int


class AssistantOutput(BaseModel):
    """An answer, or what there is of it."""

    type: Literal["assistant_output"] = "assistant_output"
    imported: bool = False
    outcome: Outcome | None = None
    cited_labels: list[str] = Field(default_factory=list)
    cost_source: CostSource | None = None
    interrupted: bool = False
    error: FailureFacts | None = None
    trimmed: list[TrimFacts] | None = None

    @property
    def notes(self) -> tuple[TrimNote, ...]:
        """What a person is told besides the answer: the most that any stage went without."""
        if not self.trimmed:
            return ()
        messages = max(facts.history_messages for facts in self.trimmed)
        sources = max(facts.sources for facts in self.trimmed)
        return (TrimNote(history_messages=messages, sources=sources),)


def arguments_digest(arguments: Mapping[str, object]) -> str:
    """Return the SHA-256 of the arguments as sorted JSON, in hex."""
    canonical = json.dumps(arguments, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()
