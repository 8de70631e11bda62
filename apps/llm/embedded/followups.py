"""Makes a follow-up a query that can be searched without the conversation.

A question that stands alone stays as it is, so that a new subject is not drowned in the old one.
Chinese follow-ups are led by the last messages, English ones by the names in them: measured, see
docs/extractive.md.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from apps.llm.embedded.names import names
from apps.llm.embedded.sentences import clean
from apps.llm.embedded.words import folded, language_of, numbers, terms

if TYPE_CHECKING:
    from collections.abc import Sequence

MESSAGES = 4
MESSAGE_MAX_CHARS = 200
MAX_NAMES = 4
FEW_TERMS_CHINESE = 3
FEW_TERMS_ENGLISH = 3

_LEANING_CHINESE = re.compile(
    r"[它他她]|这|那|该[^公]|此|其(?!他)|上述|上面|前面|刚才|同样|还有|另外|呢\s*[？?。！!]?\s*$"
    r"|^\s*(?:嗯|哦|噢|啊|哇|好的?|是的?|对|行|可以|然后|所以|为什么\s*[？?]?$|多少|几|怎么|什么时候)"
)
_LEANING_ENGLISH = re.compile(
    r"\b(?:it|its|he|him|his|she|her|hers|they|them|their|theirs|this|that|these|those|there|one|ones"
    r"|such|same|another|else|other|others|more|too|also|instead|then|above|previous)\b"
    r"|^\s*(?:and|but|so|or|ok|okay|oh|oops|yes|no|yeah|nice|great|why|sure)\b"
    r"|^\s*(?:what about|how about|i see|i mean)\b"
)


def standalone_query(question: str, history: Sequence[str]) -> str:
    """Return what to search for; `history` are the messages before the question, oldest first."""
    if not history or not leans(question):
        return question
    recent = [clean(text)[:MESSAGE_MAX_CHARS] for text in history[-MESSAGES:]]
    if language_of(question) == "zh":
        return "\n".join([*recent, question])
    found = dict.fromkeys(name for text in reversed(recent) for name in names(text))
    return " ".join([*list(found)[:MAX_NAMES], question])


def leans(question: str) -> bool:
    """Whether the question needs the conversation: it points back, or names hardly anything."""
    if language_of(question) == "zh":
        few = len(set(terms(question))) <= FEW_TERMS_CHINESE and not numbers(question)
        return few or bool(_LEANING_CHINESE.search(question))
    few = len(set(terms(question))) <= FEW_TERMS_ENGLISH
    return few or bool(_LEANING_ENGLISH.search(folded(question)))
