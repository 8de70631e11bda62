"""Makes a follow-up a query that can be searched without the conversation.

A question that stands alone stays as it is, so that a new subject is not drowned in the old one.
Chinese follow-ups are led by the last messages, English ones by the names in them: measured, see
docs/extractive.md. Such a query has its context first and the question as its last line.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from apps.core.text.comparable import comparable
from apps.core.text.names import names
from apps.core.text.words import folded, language_of, numbers, terms
from apps.llm.extractive.routing import without_courtesies
from apps.llm.extractive.sentences import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

MESSAGES = 4
MESSAGE_MAX_CHARS = 200
CLEANED_CHARS = 2000  # of a message: to free a long one of markup takes long
MAX_NAMES = 4
FEW_TERMS = 3

_BACK_CHINESE = re.compile(
    r"[它他她]|这|那|该[^公]|此|其(?!他)|上述|上面|前面|刚才|同样|还有|另外|呢\s*[？?。！!]?\s*$"
    r"|^\s*(?:嗯|哦|噢|啊|哇|好的?|是的?|对|行|可以|收到|明白|了解|不过|但是?|然后|所以)"
    r"|^\s*(?:为什么|多少|几|怎么|什么时候|谁)"
)
_BACK_ENGLISH = re.compile(
    r"\b(?:it|its|he|him|his|she|her|hers|they|them|their|theirs|this|that|these|those|there"
    r"|ones?|such|same|another|else|others?|more|too|also|instead|then|above|previous)\b"
    r"|^\s*(?:and|but|so|or|ok|okay|oh|oops|yes|no|yeah|nice|great|why|sure)\b"
    r"|^\s*(?:what about|how about|i see|i mean)\b"
)


def standalone_query(question: str, history: Sequence[tuple[bool, str]]) -> str:
    """Return what to search for.

    `history` are the messages before the question, oldest first, each with whether the person
    wrote it.
    """
    question = without_courtesies(question)
    asked = " ".join(question.split())
    if not history or not (points_back(question) or names_little(question)):
        return asked
    recent = [
        (own, clean(text[:CLEANED_CHARS])[:MESSAGE_MAX_CHARS]) for own, text in history[-MESSAGES:]
    ]
    if language_of(question) == "zh":
        return "\n".join([*(text for _, text in recent), asked])
    found = list(dict.fromkeys(name for _, text in reversed(recent) for name in names(text)))
    last_asked = [text for own, text in recent if own][-1:]
    context = " ".join(found[:MAX_NAMES] if len(found) > 1 else [*found, *last_asked])
    return f"{context}\n{asked}" if context else asked


def own_part(query: str) -> str:
    """Return the question in a query that `standalone_query` made."""
    return query.rpartition("\n")[2]


def points_back(question: str) -> bool:
    """Whether the question refers to the conversation."""
    if language_of(question) == "zh":
        return bool(_BACK_CHINESE.search(comparable(question)))
    return bool(_BACK_ENGLISH.search(folded(question)))


def names_little(question: str) -> bool:
    """Whether the question has so few terms that its subject may be left out."""
    return len(set(terms(question))) <= FEW_TERMS and not numbers(question)
