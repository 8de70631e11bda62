"""Which sentence of a passage supports a claim: word overlap only, no model, no database.

It marks what a reader should look at first. It proves nothing, and marks nothing when no sentence
is close enough.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from apps.core.text.words import folded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MIN_COVERAGE = 0.5  # share of a claim's words that a sentence must hold to be marked
_LABELS = re.compile(r"(?: ?\[S\d{1,2}\])+")
_LABEL = re.compile(r"S\d{1,2}")
# A line's end ends no sentence, since PDFs break lines anywhere; a blank line or a list item does.
_BREAK = r"\n(?=[^\S\n]*(?:\n|[-*•#>|【]|\d+[.)、）]|$))"
_STOP = rf"[。！？!?]|\.(?=\s|$)|{_BREAK}"
_SENTENCE = re.compile(rf"(?!\s)(?:(?!{_STOP}).)+(?:{_STOP}|$)+", re.DOTALL)
_WORD = re.compile(r"[^\W_\u3400-\u9fff]+|[\u3400-\u9fff]+")
_HAN_START = "\u3400"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a passage; `is_marked` when it supports a claim."""

    text: str
    is_marked: bool


def claims_by_label(answer: str) -> dict[str, list[str]]:
    """Return for each label that the answer cites the sentences that it stands behind."""
    claims: dict[str, list[str]] = {}
    start = 0
    for match in _LABELS.finditer(answer):
        found = _SENTENCE.findall(answer[start : match.start()])
        sentences = [text.strip() for text in found if _words(text)]
        start = match.end()
        for label in _LABEL.findall(match[0]):
            claims.setdefault(label, []).extend(sentences[-1:])
    return claims


def without_labels(answer: str) -> str:
    """Return the answer without its citations."""
    return _LABELS.sub("", answer)


def marked_pieces(passage: str, claims: Iterable[str]) -> list[Piece]:
    """Return the passage in pieces whose texts join to it, the supporting sentences marked."""
    spans = [match.span() for match in _SENTENCE.finditer(passage)]
    words = [_words(passage[start:end]) for start, end in spans]
    marked = set(_best_sentences(words, claims))
    pieces: list[Piece] = []
    position = 0
    for index, (start, end) in enumerate(spans):
        if index in marked:
            pieces.append(Piece(passage[position:start], is_marked=False))
            pieces.append(Piece(passage[start:end], is_marked=True))
            position = end
    pieces.append(Piece(passage[position:], is_marked=False))
    return [piece for piece in pieces if piece.text]


def _best_sentences(sentences: list[set[str]], claims: Iterable[str]) -> Iterator[int]:
    for claim in claims:
        wanted = _words(claim)
        scored = [(*_likeness(wanted, words), index) for index, words in enumerate(sentences)]
        coverage, _dice, index = max(scored, default=(0.0, 0.0, 0))
        if coverage >= MIN_COVERAGE:
            yield index


def _words(text: str) -> set[str]:
    """Return folded words; of Chinese, which writes no spaces, the pairs of characters."""
    words: set[str] = set()
    for run in _WORD.findall(folded(text)):
        if run[0] < _HAN_START or len(run) == 1:
            words.add(run)
        else:
            words.update(first + second for first, second in pairwise(run))
    return words


def _likeness(claim: set[str], sentence: set[str]) -> tuple[float, float]:
    """Return how much of the claim the sentence covers, and how alike they are (Dice)."""
    if not claim or not sentence:
        return 0.0, 0.0
    shared = len(claim & sentence)
    return shared / len(claim), 2 * shared / (len(claim) + len(sentence))
