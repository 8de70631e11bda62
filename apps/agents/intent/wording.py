"""Texts as rows of word tokens, and vocabularies of phrases that may cover a row (pure).

A Chinese character is a token, so is the stem of another word, a number and a question mark.
Knows no grammar: it tells which words a text is made of, never what it means.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from apps.core.text.words import HAN, folded, without_ending

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

type Tokens = tuple[str, ...]

_TOKEN = re.compile(rf"[{HAN}]|[^\W_{HAN}]+|\?")
_INFLECTED = re.compile(r"[a-z]+")
_LONGEST_RUN = 3  # tokens of another text that are taken over as one piece
_WHOLE = 3  # "have" and "having" are the same here


def tokens(text: str, same: Mapping[int, int]) -> Tokens:
    """Return the tokens of `text`; `same` maps characters to those that stand for them."""
    return tuple(_stem(word) for word in _TOKEN.findall(folded(text).translate(same)))


def vocabulary(phrases: Iterable[str], same: Mapping[int, int]) -> frozenset[Tokens]:
    """Return each phrase as tokens."""
    return frozenset(filter(None, (tokens(phrase, same) for phrase in phrases)))


def runs(row: Tokens, said: frozenset[str] | None = None) -> frozenset[Tokens]:
    """Return what another text may take over of a row: words and short runs of tokens.

    A single Chinese character is a word only if it is the whole row. `said` limits the result to
    what the other text says at all.
    """
    smallest = [1 if len(row) == 1 or not is_han(token) else 2 for token in row]
    return frozenset(
        row[start : start + size]
        for start, least in enumerate(smallest)
        for size in range(least, min(_LONGEST_RUN, len(row) - start) + 1)
        if said is None or said.issuperset(row[start : start + size])
    )


def is_covered(row: Tokens, phrases: frozenset[Tokens]) -> bool:
    """Whether `row` is a chain of phrases."""
    longest = max(_sizes(phrases), default=0)
    reached = {0}
    for start in range(len(row)):
        if start in reached:
            ends = range(start + 1, min(start + longest, len(row)) + 1)
            reached.update(end for end in ends if row[start:end] in phrases)
    return len(row) in reached


def holds(row: Tokens, phrases: frozenset[Tokens]) -> bool:
    """Whether one of the phrases stands in `row`."""
    return any(row[i : i + n] in phrases for n in _sizes(phrases) for i in range(len(row) - n + 1))


@lru_cache(maxsize=64)
def _sizes(phrases: frozenset[Tokens]) -> frozenset[int]:
    return frozenset(map(len, phrases))


def is_han(token: str) -> bool:
    """Whether the token is a Chinese character."""
    return bool(re.match(f"[{HAN}]", token))


def _stem(word: str) -> str:
    return without_ending(word, whole=_WHOLE) if _INFLECTED.fullmatch(word) else word
