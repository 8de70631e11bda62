"""Merges what searches found into labelled sources, and judges whether it is enough (pure).

A question that asks several things, compares or lists is left to the research agent. So is one
whose words the best passages hardly hold: it may need other words or another language.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.agents.prompts import prompt_config
from apps.core.passages import Evidence, Passage, Source
from apps.core.text.asking import asks, coverage
from apps.core.text.words import language_of, terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apps.core.passages import Search


def merge_evidence(question: str, searches: Sequence[Search], *, max_sources: int) -> Evidence:
    """Return each chunk once with its best score, at most `max_sources`, best first.

    When there are too many, the searches take turns, so that no part of the question is lost.
    """
    best: dict[object, tuple[Passage, str]] = {}
    for search in searches:
        for passage in search.passages:
            known = best.get(passage.chunk_id)
            if known is None or passage.score > known[0].score:
                best[passage.chunk_id] = (passage, search.query)
    chosen = [best[chunk_id] for chunk_id in _in_turns(searches)][:max_sources]
    chosen.sort(key=lambda found: -found[0].score)
    sources = tuple(
        Source(label=f"S{number}", passage=passage, query=query)
        for number, (passage, query) in enumerate(chosen, start=1)
    )
    return Evidence(question, tuple(dict.fromkeys(s.query for s in searches)), sources)


def is_sufficient(evidence: Evidence, threshold: float | None) -> bool:
    """Whether an answer may be written: there is a hit, and the best one reaches the threshold."""
    best = max((source.passage.score for source in evidence.sources), default=None)
    return best is not None and (threshold is None or best >= threshold)


def ends_research(question: str, found: Sequence[Passage], *, threshold: float | None) -> bool:
    """Whether the passages of one search suffice for a standalone question.

    Without a passage at the `threshold` there is no evidence (None: the score tells nothing).
    """
    if not found or (threshold is not None and found[0].score < threshold):
        return False
    return _is_simple(question) and _is_covered(question, found)


def telling(found: Sequence[Passage], *, top_k: int) -> tuple[Passage, ...]:
    """Return the passages that a writer needs when they end the research, best first.

    The best ones, those that `ends_research` looked at, hold the answer of 97 to 100 of 100
    questions whose answer is found at all (docs/performance.md); the writer of an answer turns
    back to the research for the others. Remembered passages, behind the `top_k`, stay.
    """
    most = prompt_config().workflow.early_search.sufficient_evidence.passages
    return (*found[: min(most, top_k)], *found[top_k:])


def _is_simple(question: str) -> bool:
    rule = prompt_config().workflow.early_search.simple_question
    compound = getattr(rule.compound_words, language_of(question))
    return (
        len(asks(question)) == 1
        and len(set(terms(question))) <= rule.most_terms
        and compound.search(question.lower()) is None
    )


def _is_covered(question: str, found: Sequence[Passage]) -> bool:
    rule = prompt_config().workflow.early_search.sufficient_evidence
    least: float = getattr(rule.least_coverage, language_of(question))
    texts = (f"{passage.heading_path}\n{passage.content}" for passage in found[: rule.passages])
    return any(coverage(question, text) >= least for text in texts)


def _in_turns(searches: Sequence[Search]) -> list[object]:
    ranks = max((len(search.passages) for search in searches), default=0)
    turns = (
        search.passages[rank].chunk_id
        for rank in range(ranks)
        for search in searches
        if rank < len(search.passages)
    )
    return list(dict.fromkeys(turns))
