"""Chooses the sentences of the answer and writes them down, each followed by its label."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from apps.llm.embedded.hops import asks
from apps.llm.embedded.ranking import rank
from apps.llm.embedded.sufficiency import is_sufficient
from apps.llm.embedded.words import language_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from apps.core.passages import Evidence, Passage
    from apps.llm.embedded.ranking import Ranked
    from apps.llm.embedded.vectors import SentenceVectors

INSUFFICIENT_EVIDENCE = "INSUFFICIENT_EVIDENCE"
MAX_SENTENCES = 3
MAX_CHARS = {"zh": 380, "en": 860}
MARGIN = 1.3
FOREIGN_MARGIN = 0.4
PIECE_CHARS = 12


def compose(question: str, evidence: Evidence, vectors: SentenceVectors) -> str:
    """Return the answer with labels, or `INSUFFICIENT_EVIDENCE`."""
    passages = [source.passage for source in evidence.sources]
    chosen: list[Ranked] = []
    for part in asks(question):
        for item in _choose(part, evidence.question, passages, vectors):
            if item.sentence not in [c.sentence for c in chosen]:
                chosen.append(item)
    if not chosen:
        return INSUFFICIENT_EVIDENCE
    return _written(_within(chosen, MAX_CHARS[language_of(chosen[0].sentence.text)]), evidence)


def pieces(text: str) -> Iterator[str]:
    """Yield `text` in small pieces whose join is `text`; a label is never divided."""
    for match in re.finditer(
        rf"\s?\[S\d\]|(?:(?!\s?\[S\d\]).){{1,{PIECE_CHARS}}}", text, re.DOTALL
    ):
        yield match.group()


def _choose(
    question: str, standalone: str, passages: Sequence[Passage], vectors: SentenceVectors
) -> list[Ranked]:
    """Return the best sentences for one question, those far behind the best left out."""
    ranked = rank(question, passages, vectors, standalone=standalone)
    if is_sufficient(question, passages, ranked):
        return _leading(ranked, passages)
    if standalone == question:
        return []
    in_context = rank(standalone, passages, vectors, standalone=standalone)
    if not is_sufficient(standalone, passages, in_context):
        return []
    return _leading(ranked, passages)


def _leading(ranked: Sequence[Ranked], passages: Sequence[Passage]) -> list[Ranked]:
    """Return the best sentences that are close to the first; closer when of another document."""
    first = ranked[0]
    document = passages[first.sentence.passage_index].document_id

    def is_close(item: Ranked) -> bool:
        own = passages[item.sentence.passage_index].document_id == document
        return item.score >= first.score - (MARGIN if own else FOREIGN_MARGIN)

    return [item for item in ranked if is_close(item)][:MAX_SENTENCES]


def _within(chosen: Sequence[Ranked], limit: int) -> list[Ranked]:
    """Return the first sentences that together stay within `limit` characters; at least one."""
    kept: list[Ranked] = []
    for item in chosen:
        if kept and sum(len(k.sentence.text) for k in kept) + len(item.sentence.text) > limit:
            continue
        kept.append(item)
    return kept


def _written(chosen: Sequence[Ranked], evidence: Evidence) -> str:
    text = ""
    for item in chosen:
        label = evidence.sources[item.sentence.passage_index].label
        gap = "" if not text else "\n\n" if item.sentence.is_labelled else " "
        text += f"{gap}{item.sentence.text} [{label}]"
    return text
