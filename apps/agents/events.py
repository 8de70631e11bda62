"""What happens during one answer, as typed events; `flow.answer_question` yields them in order.

A run ends with exactly one `RunFinished`, or with an AppError raised to the caller.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import BaseModel, Field, model_validator

if TYPE_CHECKING:
    from apps.core.passages import Source

Stage = Literal["intent", "execution", "organization"]
Outcome = Literal["answered", "insufficient_evidence", "direct"]
EndedBy = Literal["early_search", "research_agent"]


class IntentResult(BaseModel):
    """Stage 1 (002): where a message goes, and either the reply or the standalone question.

    A model says only what the question does not: without `execution_brief` the question stands
    alone. `checked_intent` fills both texts in.
    """

    route: Literal["DIRECT_EXECUTION", "NEEDS_EXECUTION"]
    intent_summary: str = ""
    assistant_text: str | None = None
    execution_brief: str | None = None
    safety_flags: list[str] = Field(default_factory=list)

    @model_validator(mode="after")
    def _check_payload(self) -> Self:
        if self.route == "DIRECT_EXECUTION" and not (self.assistant_text or "").strip():
            raise ValueError("assistant_text is required for DIRECT_EXECUTION")
        return self


class ExecutionResult(BaseModel):
    """Stage 2: what the research did; `execution_data` has queries and hits as plain JSON."""

    status: Literal["SUCCESS", "PARTIAL", "FAILED"]
    execution_summary: str
    execution_data: dict[str, Any] = Field(default_factory=dict)
    report_brief: str
    error_message: str | None = None


class OrganizationResult(BaseModel):
    """Stage 3: the final text, and what is known about it."""

    assistant_text: str
    response_metadata: dict[str, Any] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StageStarted:
    """A stage begins."""

    stage: Stage


@dataclass(frozen=True, slots=True)
class StageFinished:
    """A stage ended; `result` is its contract.

    `discarded_call_id` is the call of a search that ran in vain beside the stage.
    """

    stage: Stage
    result: IntentResult | ExecutionResult | OrganizationResult
    discarded_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """An agent calls a tool; `arguments` are as the model gave them."""

    call_id: str
    name: str
    arguments: dict[str, object]


@dataclass(frozen=True, slots=True)
class ToolReturned:
    """A tool answered: a search with `hit_count` and `best_score`, a failure with `error_code`."""

    call_id: str
    name: str
    hit_count: int = 0
    best_score: float | None = None
    error_code: str | None = None


@dataclass(frozen=True, slots=True)
class SourcesFound:
    """The evidence is complete: what the answer may cite, in the order of the labels."""

    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class AnswerStarted:
    """The first visible token of an answer follows; not sent for refusals and direct replies."""


@dataclass(frozen=True, slots=True)
class TokenProduced:
    """A piece of the final text; labels arrive whole and in the form [S1]."""

    text: str


@dataclass(frozen=True, slots=True)
class ModelCalled:
    """A chat model replied; what the call used and cost is in the run's log of calls."""

    stage: Stage
    model: str


@dataclass(frozen=True, slots=True)
class ContextTrimmed:
    """The model refused the stage's prompt as too long; from here on it gets less.

    Counts what the next request leaves out of the whole prompt: earlier messages of the
    conversation and passages. The answer may no longer cite the `dropped_labels`.
    """

    stage: Stage
    history_messages: int
    sources: int
    dropped_labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The answer is whole and valid. `text` equals the joined tokens.

    `sources` are those of SourcesFound; `cited_labels` ("S1") those that the text cites, in the
    order of their first use.
    """

    outcome: Outcome
    text: str
    sources: tuple[Source, ...]
    model: str
    cited_labels: tuple[str, ...] = ()


RunEvent = (
    StageStarted
    | StageFinished
    | ToolCalled
    | ToolReturned
    | SourcesFound
    | AnswerStarted
    | TokenProduced
    | ModelCalled
    | ContextTrimmed
    | RunFinished
)


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier message of the conversation."""

    role: Literal["user", "assistant"]
    content: str
