"""What one run carries through the graph and into tools and middleware."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from apps.agents.context import UserAgentContext
    from apps.agents.events import RunEvent, Stage, Turn
    from apps.core.passages import SearchPort
    from apps.llm.calls import CallLog


@dataclass(frozen=True, slots=True)
class RunLimits:
    """How much a run may search; `evidence_threshold` None means that any hit is evidence."""

    top_k: int
    max_searches: int
    max_sources: int
    evidence_threshold: float | None


@dataclass(frozen=True, slots=True)
class RunContext:
    """The asker's words, the search port, the limits and the ways to report events and calls."""

    question: str
    history: tuple[Turn, ...]
    user: UserAgentContext
    search: SearchPort
    limits: RunLimits
    emit: Callable[[RunEvent], None]
    calls: CallLog | None = None
    is_research_open: bool = False  # more can be searched when the evidence is not enough
    trim_levels: dict[Stage, int] = field(default_factory=dict)  # see `trimming`
    at_end: AsyncExitStack = field(default_factory=AsyncExitStack)  # what must not outlive the run
