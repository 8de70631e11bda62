"""The questions that one question holds, when several things are asked at once."""

from __future__ import annotations

import re

from apps.core.text.asking import asks
from apps.core.text.words import terms
from apps.llm.extractive.codes import one_each

MAX_PARTS = 8

_ASKS = re.compile(
    r"^(?:and\s+)?(?:what|who|whom|whose|when|where|which|why|how)\b", re.IGNORECASE
)
_BETWEEN = re.compile(
    r"(?:[?!;\n]+|,?\s+and\s+|,\s+)(?=(?:and\s+)?(?:what|who|whom|whose|when|where|which|why|how)\b)",
    re.IGNORECASE,
)


def parts_of(question: str) -> list[str]:
    """Return the question alone, or its asking parts; one for each code of a list.

    A question of more than `MAX_PARTS` is left alone: each part costs a comparison of its own.
    """
    parts = asks(question)
    if len(parts) == 1:
        parts = _led_parts(question)
    singles = list(dict.fromkeys(single for part in parts for single in one_each(part)))
    return singles if len(singles) <= MAX_PARTS else [question]


def _led_parts(question: str) -> list[str]:
    """Divide before question words: "what do A and B mean, and how long is C" is two."""
    parts = [part.strip() for part in _BETWEEN.split(" ".join(question.split())) if part.strip()]
    is_divided = len(parts) > 1 and all(_ASKS.search(part) and terms(part) for part in parts)
    return parts if is_divided else [question]
