"""Which searches a question needs: itself, its parts, and what the first passages name next."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from apps.core.text.names import related_names
from apps.core.text.words import is_foreign, language_of, telling_terms, terms
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

_ASKS_CHINESE = re.compile("什么|谁|哪|何|怎|多少|几|多[长大高久重远]|吗|呢|是否|有没有")
_ASKS_ENGLISH = re.compile(
    r"^(?:and\s+)?(?:what|who|whom|whose|when|where|which|why|how|is|are|was|were|do|does|did|can)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"(?:[^，,。！!；;\n.]|\.(?!\s))*(?:[，,。！!；;\n]+|\.\s+|$)")
_BETWEEN_CHINESE = re.compile(r"[？?！!。；;，,\n]+(?:以及|还有|另外|并且)?|以及|和|与|及|、")
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
    if len(parts) > 1 and all(asking.search(part) and terms(part) for part in parts):
        return parts
    return [question]


def without_preface(question: str) -> str:
    """Return the question from its first asking clause on: "oh, just as I thought, where is it?".

    The whole question where no clause asks, or where what asks names nothing by itself.
    """
    is_chinese = language_of(question) == "zh"
    asking = _ASKS_CHINESE if is_chinese else _ASKS_ENGLISH
    clauses = _CLAUSE.findall(question)
    first = next((at for at, clause in enumerate(clauses) if asking.search(clause.strip())), 0)
    rest = "".join(clauses[first:]).strip()
    return rest if telling_terms(rest) else question


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
