"""Merges what searches found into labelled sources; shows passages to models as data (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.agents.prompts.prompt_safety import defused
from apps.core.passages import Evidence, Passage, Source

if TYPE_CHECKING:
    from collections.abc import Sequence


def merge_evidence(
    question: str, searches: Sequence[tuple[str, Sequence[Passage]]], *, max_sources: int
) -> Evidence:
    """Return each chunk once with its best score, at most `max_sources`, best first.

    When there are too many, the searches take turns, so that no part of the question is lost.
    """
    best: dict[object, tuple[Passage, str]] = {}
    for query, passages in searches:
        for passage in passages:
            known = best.get(passage.chunk_id)
            if known is None or passage.score > known[0].score:
                best[passage.chunk_id] = (passage, query)
    chosen = [best[chunk_id] for chunk_id in _in_turns(searches)][:max_sources]
    chosen.sort(key=lambda found: -found[0].score)
    sources = tuple(
        Source(label=f"S{number}", passage=passage, query=query)
        for number, (passage, query) in enumerate(chosen, start=1)
    )
    return Evidence(question, tuple(dict.fromkeys(query for query, _ in searches)), sources)


def is_sufficient(evidence: Evidence, threshold: float | None) -> bool:
    """Whether an answer may be written: there is a hit, and the best one reaches the threshold."""
    if not evidence.sources:
        return False
    return threshold is None or best_score(evidence) >= threshold


def best_score(evidence: Evidence) -> float:
    """Return the highest score of the sources, which must not be empty."""
    return max(source.passage.score for source in evidence.sources)


def passage_block(passages: Sequence[Passage], labels: Sequence[str] | None = None) -> str:
    """Return passages as data, with labels if given; forged labels and delimiters are defused."""
    names = [f"[{label}]" for label in labels or ()] or ["-"] * len(passages)
    return "\n\n".join(
        f"{name} {source_name(passage)}\n{defused(passage.content)}"
        for name, passage in zip(names, passages, strict=True)
    )


def source_name(passage: Passage) -> str:
    """Return where a passage stands, for models: file, page and headings on one line."""
    page = f"p. {passage.page_number}" if passage.page_number else ""
    parts = (passage.filename, page, passage.heading_path)
    return defused(" · ".join(part for part in parts if part)).replace("\n", " ")


def _in_turns(searches: Sequence[tuple[str, Sequence[Passage]]]) -> list[object]:
    ranks = max((len(passages) for _, passages in searches), default=0)
    turns = (
        passages[rank].chunk_id
        for rank in range(ranks)
        for _, passages in searches
        if rank < len(passages)
    )
    return list(dict.fromkeys(turns))
