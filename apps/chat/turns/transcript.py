"""What one run produced, collected from its events: text, tool messages, results, calls.

Passages are not kept: tool results are stored as counts and scores, long arguments are cut (a
follow-up search may quote a passage), so that a deleted document leaves no copy behind (003 §6.6).
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from functools import singledispatchmethod
from typing import TYPE_CHECKING

from apps.agents.events import (
    ContextTrimmed,
    ModelCalled,
    RunFinished,
    SourcesFound,
    StageFinished,
    TokenProduced,
    ToolCalled,
    ToolReturned,
)
from apps.chat.models import MessageRole
from apps.chat.turns.metadata import (
    StageResult,
    ToolCall,
    ToolFacts,
    ToolResult,
    TrimFacts,
    arguments_digest,
)

if TYPE_CHECKING:
    from apps.agents.events import RunEvent, Stage
    from apps.chat.costs.call_ledger import CallLedger
    from apps.core.passages import Source


KEPT_ARGUMENT_CHARS = 200  # the end of each text: a query has its question last


@dataclass(frozen=True, slots=True)
class SideMessage:
    """A message beside question and answer: a tool's call or result, or a stage's result."""

    role: MessageRole
    content: str
    metadata: dict[str, object]
    tool_name: str | None = None


@dataclass(slots=True)
class Transcript:
    """Grows with each event of a run; `finished` is set by the last one of a whole answer.

    The `ledger` keeps the run's calls; a transcript without one charges nothing new.
    """

    ledger: CallLedger | None = None
    tool_messages: list[SideMessage] = field(default_factory=list)
    stage_results: list[SideMessage] = field(default_factory=list)
    sources: tuple[Source, ...] = ()
    finished: RunFinished | None = None
    _trims: dict[Stage, TrimFacts] = field(default_factory=dict)
    _last_model: str | None = None
    _tokens: list[str] = field(default_factory=list)
    _digests: dict[str, str] = field(default_factory=dict)
    _started: float = field(default_factory=time.monotonic)

    @property
    def text(self) -> str:
        """What was written so far."""
        return "".join(self._tokens)

    @property
    def model(self) -> str | None:
        """The model that wrote the answer, or the last one that was called."""
        if self.finished is not None:
            return self.finished.model
        return self._last_model

    @property
    def latency_ms(self) -> int:
        """Milliseconds since the run began."""
        return round((time.monotonic() - self._started) * 1000)

    @property
    def trimmed(self) -> list[TrimFacts] | None:
        """What the stages' models did not get of too long prompts, None when they got all."""
        return list(self._trims.values()) or None

    @singledispatchmethod
    def add(self, _event: RunEvent) -> None:
        """Take in the next event of the run; what is not stored passes by."""

    @add.register
    def _add_token(self, event: TokenProduced) -> None:
        self._tokens.append(event.text)

    @add.register
    def _add_model(self, event: ModelCalled) -> None:
        self._last_model = event.model

    @add.register
    def _add_sources(self, event: SourcesFound) -> None:
        self.sources = event.sources

    @add.register
    def _add_finish(self, event: RunFinished) -> None:
        self.finished = event

    @add.register
    def _add_call(self, event: ToolCalled) -> None:
        digest = arguments_digest(event.arguments)
        self._digests[event.call_id] = digest
        facts = ToolFacts(name=event.name, status="called", args_digest=digest)
        self.tool_messages.append(
            SideMessage(
                role=MessageRole.TOOL,
                content=json.dumps(_shortened(event.arguments), ensure_ascii=False, default=str),
                metadata=ToolCall(call_id=event.call_id, tool=facts).model_dump(mode="json"),
                tool_name=event.name,
            )
        )

    @add.register
    def _add_result(self, event: ToolReturned) -> None:
        facts = ToolFacts(
            name=event.name,
            status="failed" if event.error_code else "succeeded",
            args_digest=self._digests.get(event.call_id, ""),
        )
        result = ToolResult(
            call_id=event.call_id,
            tool=facts,
            hit_count=event.hit_count,
            best_score=event.best_score,
            error_code=event.error_code,
        )
        summary = result.model_dump(include={"hit_count", "best_score", "error_code"})
        self.tool_messages.append(
            SideMessage(
                role=MessageRole.TOOL,
                content=json.dumps(summary),
                metadata=result.model_dump(mode="json"),
                tool_name=event.name,
            )
        )

    @add.register
    def _add_trim(self, event: ContextTrimmed) -> None:
        if event.history_messages or event.sources:
            self._trims[event.stage] = TrimFacts(
                stage=event.stage,
                history_messages=event.history_messages,
                sources=event.sources,
            )

    @add.register
    def _add_stage(self, event: StageFinished) -> None:
        self.stage_results.append(
            SideMessage(
                role=MessageRole.SYSTEM,
                content=event.result.model_dump_json(),
                metadata=StageResult(
                    stage=event.stage, discarded_call_id=event.discarded_call_id
                ).model_dump(mode="json", exclude_none=True),
            )
        )


def _shortened(arguments: dict[str, object]) -> dict[str, object]:
    return {
        name: value[-KEPT_ARGUMENT_CHARS:] if isinstance(value, str) else value
        for name, value in arguments.items()
    }
