"""Shortens a prompt that a model refuses as too long, step by step.

The oldest history goes first, then the lowest-ranked passages, in the steps of `workflow.yaml`.
Whole messages go, or passages inside of a tool's answer: a tool call and its answer never part,
and the question, the system prompt and notes to the model are never cut.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from apps.agents.events import ContextTrimmed
from apps.agents.messages import evidence_content, search_content
from apps.agents.prompts import prompt_config
from apps.core.passages import Evidence
from apps.llm.errors import ContextTooLongError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from uuid import UUID

    from langchain_core.messages import BaseMessage

    from apps.agents.context import RunContext
    from apps.agents.events import Stage


@dataclass(frozen=True, slots=True)
class _Kept:
    """The shares of the earlier messages and of the passages that a request has."""

    history: float = 1
    sources: float = 1


async def within_context[Reply](
    send: Callable[[list[BaseMessage]], Awaitable[Reply]],
    messages: list[BaseMessage],
    *,
    stage: Stage,
    run: RunContext,
) -> Reply:
    """Return the reply to the longest form of `messages` that the model accepts.

    Each form is one request. A form that was refused once is not tried again in the same stage of
    the run, where prompts only grow. Each shorter form is told as an event before it is sent.

    Raises:
        ContextTooLongError: nothing is left that may go.
    """
    steps = _steps()
    refused: list[BaseMessage] | None = None
    for level in range(run.trim_levels.get(stage, 0), len(steps)):
        shorter = _shortened(messages, steps[level], run)
        if shorter == refused:
            continue
        run.trim_levels[stage] = level
        if shorter != messages:
            run.emit(_event(stage, messages, shorter))
        try:
            return await send(shorter)
        except ContextTooLongError:
            refused = shorter
    raise ContextTooLongError


def _steps() -> list[_Kept]:
    trim = prompt_config().workflow.context_trim
    steps = [_Kept(), *(_Kept(share) for share in trim.history_kept)]
    return [*steps, *(replace(steps[-1], sources=share) for share in trim.sources_kept)]


def _shortened(messages: list[BaseMessage], kept: _Kept, run: RunContext) -> list[BaseMessage]:
    question = _question_at(messages, run)
    rest = [_with_fewer_passages(message, kept.sources, run) for message in messages[question:]]
    return [*_newest(messages[:question], kept.history), *rest]


def _question_at(messages: Sequence[BaseMessage], run: RunContext) -> int:
    """Return where the question stands; what is before it is history."""
    places = (
        place
        for place, message in enumerate(messages)
        if isinstance(message, HumanMessage) and message.text == run.question
    )
    return max(places, default=0)


def _newest(history: list[BaseMessage], share: float) -> list[BaseMessage]:
    """Return the newest messages; where older ones went, the first of them is a person's."""
    first = len(history) - int(len(history) * share)
    while 0 < first < len(history) and isinstance(history[first], AIMessage):
        first += 1
    return history[first:]


def _with_fewer_passages(message: BaseMessage, share: float, run: RunContext) -> BaseMessage:
    found = message.artifact if isinstance(message, ToolMessage) else None
    if not found or share == 1:
        return message
    if isinstance(found, Evidence):  # its summary goes too: it may state what only these said
        scores = [source.passage.score for source in found.sources]
        best = tuple(found.sources[place] for place in _best_places(scores, share))
        fewer = replace(found, sources=best, summary="")
        return _answering(message, evidence_content(fewer, run), fewer)
    places = _best_places([passage.score for passage in found], share)
    passages = tuple(found[place] for place in places)
    return _answering(message, search_content(passages, run), passages)


def _answering(message: BaseMessage, content: str, artifact: object) -> BaseMessage:
    return message.model_copy(update={"content": content, "artifact": artifact})


def _best_places(scores: Sequence[float], share: float) -> list[int]:
    """Return the places of the highest scores, at least one, in their order."""
    ranked = sorted(range(len(scores)), key=lambda place: -scores[place])
    return sorted(ranked[: max(1, ceil(len(scores) * share))])


def _event(
    stage: Stage, messages: Sequence[BaseMessage], shorter: Sequence[BaseMessage]
) -> ContextTrimmed:
    left = _labels_by_chunk(shorter)
    dropped = {
        chunk: label for chunk, label in _labels_by_chunk(messages).items() if chunk not in left
    }
    return ContextTrimmed(
        stage=stage,
        history_messages=len(messages) - len(shorter),
        sources=len(dropped),
        dropped_labels=tuple(label for label in dropped.values() if label),
    )


def _labels_by_chunk(messages: Sequence[BaseMessage]) -> dict[UUID, str]:
    """Return the passages that the messages show; those of a search have no label yet."""
    shown: dict[UUID, str] = {}
    for message in messages:
        found = message.artifact if isinstance(message, ToolMessage) else None
        if isinstance(found, Evidence):
            shown |= {source.passage.chunk_id: source.label for source in found.sources}
        elif found:
            shown |= {passage.chunk_id: "" for passage in found}
    return shown
