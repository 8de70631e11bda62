"""Which searches a question needs: itself, its parts, and what the first passages name next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.core.text.asking import asks
from apps.core.text.names import related_names
from apps.core.text.words import is_foreign, language_of, terms
from apps.llm.extractive.followups import points_back
from apps.llm.extractive.sentences import split, trusted
from apps.llm.extractive.titles import last_mention

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apps.core.passages import Passage

MAX_SEARCHES = 3
NAMES_PER_SEARCH = 2
LEADING_PASSAGES = 2
ENOUGH_COVERED = 0.75


def next_query(
    question: str, searched: Sequence[str], found: Sequence[Sequence[Passage]]
) -> str | None:
    """Return the next search, or None when the research is done.

    Args:
        question: The standalone question; its last line is the question itself.
        searched: The queries so far.
        found: The passages of each of them.
    """
    if not searched:
        return question
    if len(searched) >= MAX_SEARCHES:
        return None
    wanted = _further(question, found[0])
    return next((query for query in wanted if query not in searched), None)


def _further(question: str, found: Sequence[Passage]) -> list[str]:
    """Return the searches after the first: for each part, for the bare question, or for names."""
    context, _, asked = question.rpartition("\n")
    parts = asks(asked)
    if len(parts) > 1:
        return [f"{context}\n{part}".lstrip() for part in parts]
    if context and (
        language_of(asked) == "en" or not points_back(asked)
    ):  # it may be about something new
        return [asked]
    return _leads(question, found)


def _leads(question: str, found: Sequence[Passage]) -> list[str]:
    """Return queries for the names that the first two passages bring up.

    Passages whose title the question names come first. None when the best passage speaks of
    everything that is asked: then it needs no other. None of passages in another language: which
    of their names the question leads to cannot be told.
    """
    readable = [passage for passage in found if not is_foreign(passage.content, question)]
    if language_of(question) == "zh" or not readable:
        return []
    asked = set(terms(question))
    held = set(terms(f"{found[0].heading_path}\n{found[0].content}"))
    if len(asked & held) >= ENOUGH_COVERED * len(asked):
        return []
    leads = []
    spoken_of = sorted(readable, key=lambda passage: not last_mention(passage, question))
    for passage in spoken_of[:LEADING_PASSAGES]:
        text = "\n".join(sentence for sentence, _ in split(trusted(passage.content)))
        fresh = related_names(text, f"{question} {passage.heading_path}")
        if fresh:
            leads.append(" ".join(fresh[:NAMES_PER_SEARCH]))
    return leads
