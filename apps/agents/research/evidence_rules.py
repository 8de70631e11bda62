"""When the first search has found enough, so that no model need be asked (pure).

A question that asks several things, compares or lists is left to the research agent. So is one
whose words the best passages hardly hold: it may need other words or another language.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.agents.prompts import blueprints
from apps.llm.extractive.questions import coverage, language_of, parts, term_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apps.core.passages import Passage


def ends_research(question: str, found: Sequence[Passage], *, threshold: float | None) -> bool:
    """Whether the passages of one search suffice for a standalone question.

    Without a passage at the `threshold` there is no evidence (None: the score tells nothing).
    """
    if not found or (threshold is not None and found[0].score < threshold):
        return False
    return _is_simple(question) and _is_covered(question, found)


def _is_simple(question: str) -> bool:
    rule = blueprints().workflow.early_search.simple_question
    compound = getattr(rule.compound_words, language_of(question))
    return (
        len(parts(question)) == 1
        and term_count(question) <= rule.most_terms
        and compound.search(question.lower()) is None
    )


def _is_covered(question: str, found: Sequence[Passage]) -> bool:
    rule = blueprints().workflow.early_search.sufficient_evidence
    least: float = getattr(rule.least_coverage, language_of(question))
    texts = (f"{passage.heading_path}\n{passage.content}" for passage in found[: rule.passages])
    return any(coverage(question, text) >= least for text in texts)
