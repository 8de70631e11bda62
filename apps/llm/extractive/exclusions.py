"""Sentences that cannot be the answer, however near they are: they are not ranked at all.

Tables of contents and imprints, unless asked for; sentences about another code than the one asked
for; and, where a price or a weight is asked for, sentences that hold none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.llm.extractive.answer_kind import holds_amount, strict_kind
from apps.llm.extractive.codes import codes, is_about_other
from apps.llm.extractive.headings import asks_for_contents, asks_for_imprint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apps.llm.extractive.sentences import Sentence


def possible_answers(question: str, sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return the sentences that may answer; the last line of a question is what it asks."""
    asked = question.rpartition("\n")[2]
    left = _of_asked_codes(asked, _without_furniture(asked, sentences))
    kind = strict_kind(asked)
    return [s for s in left if holds_amount(kind, s.text)] if kind else left


def _without_furniture(question: str, sentences: Sequence[Sentence]) -> list[Sentence]:
    if asks_for_contents(question) or asks_for_imprint(question):
        return list(sentences)
    return [s for s in sentences if not s.is_furniture]


def _of_asked_codes(question: str, sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return none when the text knows the series, but not the code that is asked for."""
    asked = codes(question)
    left = [s for s in sentences if not is_about_other(s.text, asked)]
    is_known = len(left) == len(sentences) or any(codes(s.text) & asked for s in left)
    return left if is_known else []
