"""Whether the evidence answers the question at all. Refusing is the honest answer when it does not.

A single similarity does not tell: near-topic passages are similar too. The decision adds up the best
sentence's similarity, how much of the question its passage speaks of, and what is missing there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.llm.embedded.names import names
from apps.llm.embedded.words import folded, numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apps.core.passages import Passage
    from apps.llm.embedded.ranking import Ranked

COSINE_WEIGHT = 10.0
COVERAGE_WEIGHT = 2.0
MISSING_WEIGHT = 0.5
THRESHOLD = 9.2


def is_sufficient(question: str, passages: Sequence[Passage], ranked: Sequence[Ranked]) -> bool:
    """Whether the best sentences answer the question."""
    return bool(ranked) and sufficiency(question, passages, ranked) >= THRESHOLD


def sufficiency(question: str, passages: Sequence[Passage], ranked: Sequence[Ranked]) -> float:
    """Return how well the evidence supports an answer; compare with `THRESHOLD`."""
    cosine = max(item.cosine for item in ranked)
    best = ranked[0]
    coverage = best.features[4]
    passage = passages[best.sentence.passage_index]
    return (
        COSINE_WEIGHT * cosine
        + COVERAGE_WEIGHT * coverage
        - MISSING_WEIGHT * len(missing(question, passage))
    )


def missing(question: str, passage: Passage) -> list[str]:
    """Return the numbers and names of the question that the passage does not hold."""
    text = folded(f"{passage.heading_path}\n{passage.content}")
    held = numbers(text)
    absent = sorted(numbers(question) - held)
    return absent + [name for name in names(question) if folded(name) not in text]
