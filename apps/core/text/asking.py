"""What a question asks: the questions in it, and how much of it a text speaks of (pure)."""

from __future__ import annotations

import re

from apps.core.text.comparable import comparable
from apps.core.text.words import characters, language_of, telling_terms, terms

_ASKS_CHINESE = re.compile("什么|谁|哪|何|怎|多少|几|多[长大高久重远]|吗|呢|是否|有没有")
_ASKS_ENGLISH = re.compile(
    r"^(?:and\s+)?(?:what|who|whom|whose|when|where|which|why|how|is|are|was|were|do|does|did|can)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"(?:[^，,。！!；;\n.]|\.(?!\s))*(?:[，,。！!；;\n]+|\.\s+|$)")
_BETWEEN_CHINESE = re.compile(
    r"[？?！!。；;，,\n]+(?:以及|还有|還有|另外|并且|並且)?|以及|和|与|與|及|、"
)
_BETWEEN_ENGLISH = re.compile(r"[?!;\n]+|,?\s+and\s+|,\s+", re.IGNORECASE)


def asks(question: str) -> list[str]:
    """Return the questions that `question` holds: itself alone, or its asking parts.

    It is divided only where every part asks something by itself.
    """
    is_chinese = language_of(question) == "zh"
    between = _BETWEEN_CHINESE if is_chinese else _BETWEEN_ENGLISH
    lines = (" ".join(line.split()) for line in question.splitlines())  # patterns loop on gaps
    parts = [part.strip() for part in between.split("\n".join(lines)) if part.strip()]
    asking = _ASKS_CHINESE if is_chinese else _ASKS_ENGLISH
    if len(parts) > 1 and all(asking.search(comparable(part)) and terms(part) for part in parts):
        return parts
    return [question]


def without_preface(question: str) -> str:
    """Return the question from its first asking clause on: "oh, just as I thought, where is it?".

    The whole question where no clause asks, or where what asks names nothing by itself.
    """
    is_chinese = language_of(question) == "zh"
    asking = _ASKS_CHINESE if is_chinese else _ASKS_ENGLISH
    clauses = _CLAUSE.findall(question)
    first = next(
        (at for at, clause in enumerate(clauses) if asking.search(comparable(clause.strip()))), 0
    )
    rest = "".join(clauses[first:]).strip()
    return rest if telling_terms(rest) else question


def coverage(question: str, text: str) -> float:
    """Return the share, from 0 to 1, of what the question speaks of that `text` speaks of too."""
    wanted = characters(question)
    return len(wanted & characters(text)) / len(wanted) if wanted else 0.0
