"""Which searches a question needs: itself, its parts, and what the first passages name next."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from apps.llm.embedded.names import new_names
from apps.llm.embedded.words import language_of, terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apps.core.passages import Passage

MAX_SEARCHES = 3
MAX_NAMES = 3
OPENING_CHARS = 300
MIN_PART_TERMS = 1

_ASKING = (
    r"什么|谁|哪|何|怎|多少|几|多[长大高久重远]|吗|呢|是否"
    r"|\b(?:what|who|whom|whose|when|where|which|why|how|is|are|was|were|do|does|did|can)\b"
)
_BETWEEN = re.compile(
    r"[？?！!。；;\n]+|(?:，|,)\s*(?:以及|还有|另外|并且|and\b)?|以及|和|与|及|\s+and\s+",
    re.IGNORECASE,
)


def asks(question: str) -> list[str]:
    """Return the questions that `question` holds: itself alone, or its asking parts.

    It is divided only where every part asks something by itself.
    """
    parts = [part.strip() for part in _BETWEEN.split(question) if part and part.strip()]
    merged: list[str] = []
    for part in parts:
        if re.search(_ASKING, part, re.IGNORECASE) and len(set(terms(part))) >= MIN_PART_TERMS:
            merged.append(part)
        else:
            return [question]
    return merged if len(merged) > 1 else [question]


def next_query(
    question: str, searched: Sequence[str], found: Sequence[Sequence[Passage]]
) -> str | None:
    """Return the next search, or None when the research is done.

    Args:
        question: The standalone question.
        searched: The queries so far.
        found: The passages of each of them.
    """
    if not searched:
        return question
    if len(searched) >= MAX_SEARCHES:
        return None
    parts = asks(question)
    wanted = parts if len(parts) > 1 else _leads(question, found)
    return next((query for query in wanted if query not in searched), None)


def _leads(question: str, found: Sequence[Sequence[Passage]]) -> list[str]:
    """Return queries for the names that the first two passages of the first search bring up."""
    if language_of(question) == "zh" or not found[0]:
        return []
    leads = []
    for passage in found[0][:2]:
        text = passage.content[:OPENING_CHARS]
        fresh = new_names(text, known=f"{question} {passage.heading_path}")[:MAX_NAMES]
        if fresh:
            leads.append(" ".join(fresh))
    return leads
