"""What can be told of a question without a model: its parts, what it speaks of, what it refers to.

The extractive model works with the same means; here they serve the flow, whatever its models are.
"""

from __future__ import annotations

from apps.core.text.words import characters, language_of, terms
from apps.llm.extractive.followups import standalone_query
from apps.llm.extractive.multi_hop import asks

__all__ = ["coverage", "language_of", "parts", "standalone_query", "term_count"]


def parts(question: str) -> list[str]:
    """Return the questions that `question` holds; several lines that ask are several questions."""
    return asks(question)


def term_count(question: str) -> int:
    """Return how many different terms the question has."""
    return len(set(terms(question)))


def coverage(question: str, text: str) -> float:
    """Return the share, from 0 to 1, of what the question speaks of that `text` speaks of too."""
    wanted = characters(question)
    return len(wanted & characters(text)) / len(wanted) if wanted else 0.0
