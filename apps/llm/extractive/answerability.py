"""Whether the evidence answers the question at all; if not, refusing is the honest answer.

A single similarity does not tell: near-topic passages are similar too. The decision adds up the
best sentence's similarity, how much of the question its passage speaks of, and what is missing.
The figures come from public question sets, see docs/extractive.md.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from apps.core.text.asking import without_preface
from apps.core.text.names import names
from apps.core.text.words import (
    characters,
    folded,
    language_of,
    numbers,
    telling_terms,
    terms,
)
from apps.llm.extractive.answer_kind import kind_asked
from apps.llm.extractive.sentences import trusted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apps.core.passages import Passage
    from apps.core.text.words import Language
    from apps.llm.extractive.ranking import Ranked

SHARE_WEIGHT = 0.13
MISSING_YEAR = 0.10  # a fact of another year answers nothing
MISSING_NUMBER = 0.03
MISSING_NAME = 0.015
MOST_MISSING = 2
THRESHOLD: dict[Language, float] = {"zh": 0.966, "en": 0.90}
# How far a follow-up may stay behind the threshold when the conversation speaks for it: where the
# passage holds a term of the follow-up itself and the kind of answer asked for, where it does not,
# and where one sentence holds both.
LEANING: dict[Language, float] = {"zh": 0.04, "en": 0.05}
LEANING_LESS = 0.02
LEANING_MORE = 0.08
_TOLD_BY_FORM = frozenset({"time", "number", "place"})
_YEAR = re.compile(r"1\d{3}|20\d\d")
_LATIN = re.compile(r"[a-z]")


def is_sufficient(question: str, passages: Sequence[Passage], ranked: Sequence[Ranked]) -> bool:
    """Whether the best sentences answer the question."""
    if not ranked:
        return False
    return sufficiency(question, passages, ranked) >= THRESHOLD[language_of(question)]


def is_held(question: str, passages: Sequence[Passage], ranked: Sequence[Ranked]) -> bool:
    """Whether the best sentences for a follow-up hold what the follow-up says itself.

    The conversation alone would vouch for any question. A follow-up that says nothing itself
    ("why?", "and where?") has only the conversation.
    """
    question = without_preface(question)
    asked = telling_terms(question)
    if not ranked or not asked:
        return bool(ranked)
    lacking = THRESHOLD[language_of(question)] - sufficiency(question, passages, ranked)
    text = whole_text(passages[ranked[0].sentence.passage_index])
    held = asked & (set(terms(text)) | characters(text))
    is_named = any(_LATIN.match(term) for term in asked - held) and language_of(question) == "zh"
    is_of_kind = ranked[0].features.kind or kind_asked(question) not in _TOLD_BY_FORM
    if is_named or missing_names(question, text):
        return lacking <= 0
    leaning = LEANING[language_of(question)] if held and is_of_kind else LEANING_LESS
    if ranked[0].features.kind and asked & set(terms(ranked[0].sentence.text)):
        leaning = LEANING_MORE
    return lacking <= leaning


def sufficiency(question: str, passages: Sequence[Passage], ranked: Sequence[Ranked]) -> float:
    """Return how well the evidence supports an answer; compare with `THRESHOLD`."""
    text = whole_text(passages[ranked[0].sentence.passage_index])
    return (
        max(item.features.cosine for item in ranked)
        + SHARE_WEIGHT * shared(question, text)
        - _missing(question, text)
    )


def _missing(question: str, text: str) -> float:
    """Return the deduction for years, other numbers and names that `text` does not hold."""
    return missing_numbers(question, text) + MISSING_NAME * min(
        MOST_MISSING, len(missing_names(question, text))
    )


def missing_numbers(question: str, text: str) -> float:
    """Return the deduction for years and other numbers that `text` does not hold."""
    absent = numbers(question) - numbers(text)
    years = {number for number in absent if _YEAR.fullmatch(number)}
    others = len(absent - years)
    return MISSING_YEAR * len(years) + MISSING_NUMBER * min(MOST_MISSING, others)


def shared(question: str, text: str) -> float:
    """Return the share of the question's terms, and of their characters, that `text` holds."""
    return (
        _share(set(terms(question)), set(terms(text)))
        + _share(characters(question), characters(text))
    ) / 2


def missing_names(question: str, text: str) -> list[str]:
    """Return the names of the question that `text` does not hold."""
    held = folded(text)
    return [name for name in names(question) if folded(name) not in held]


def _share(asked: set[str], held: set[str]) -> float:
    return len(asked & held) / len(asked) if asked else 0.0


def whole_text(passage: Passage) -> str:
    """Return all that a passage says, with its headings and its file's name."""
    return f"{passage.heading_path}\n{passage.filename}\n{trusted(passage.content)}"
