"""The title a passage stands under, and whether a text speaks of it."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from apps.core.text.words import folded, language_of, telling_terms, terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apps.core.passages import Passage
    from apps.llm.extractive.sentences import Sentence

HEADING_SEPARATOR = " > "  # of `Passage.heading_path`
_PRONOUN = re.compile(
    r"[它他她]|其(?!他)|\b(?:its?|he|him|his|she|hers?|they|them|theirs?)\b", re.IGNORECASE
)


def heading_of(passage: Passage) -> str:
    """Return the innermost heading over a passage, "" when there is none."""
    return passage.heading_path.rpartition(HEADING_SEPARATOR)[2]


def title_of(passage: Passage) -> str:
    """Return the innermost heading over a passage, or its file's name without the ending."""
    return heading_of(passage) or passage.filename.rpartition(".")[0]


def last_mention(passage: Passage, text: str) -> int:
    """Return where the last mention of the passage's title in `text` ends, 0 for none."""
    title = folded(title_of(passage)).strip()
    found = folded(text).rfind(title) if len(title) > 1 else -1
    return 0 if found < 0 else found + len(title)


def of_subject(
    question: str, context: str, sentences: Sequence[Sentence], passages: Sequence[Passage]
) -> list[Sentence]:
    """Return the sentences under the titles that are spoken of.

    These are the titles that the conversation spoke of last where the question leans on it, else
    those that the question names itself. A question that says nothing itself ("since when?")
    leaves these only. Any other drops, in a passage that holds one of these, the sentences of
    other sections that hold nothing asked for beyond what one of these holds: "the guarantee of
    the battery" may stand under another title than "Battery". All stay where no title is named.
    """
    is_bare = bool(context) and not telling_terms(question)
    leans = is_bare or bool(context and _PRONOUN.search(question))
    said = _newest_first(context) if leans else [set(terms(question))]
    titles = {s: " ".join(s.headings) or title_of(passages[s.passage_index]) for s in sentences}
    latest = _latest_spoken_of(set(titles.values()), said)
    spoken = [s for s in sentences if titles[s] in latest]
    if is_bare and spoken:
        return spoken
    asked = set(terms(question))
    held: dict[int, list[set[str]]] = {}
    for sentence in spoken:
        held.setdefault(sentence.passage_index, []).append(asked & set(terms(sentence.text)))

    def adds_nothing(sentence: Sentence) -> bool:
        own = asked & set(terms(sentence.text))
        return any(own <= other for other in held.get(sentence.passage_index, ()))

    return [s for s in sentences if titles[s] in latest or not adds_nothing(s)]


def _latest_spoken_of(titles: set[str], said: Sequence[set[str]]) -> set[str]:
    """Return the titles that are told apart by what was said last of any of them."""
    held_by = Counter(term for title in titles for term in set(terms(title)))
    own = {title: {t for t in terms(title) if held_by[t] < len(titles)} for title in titles}
    for words in said:
        if found := {title for title in titles if own[title] & words}:
            return found
    return set()


def _newest_first(context: str) -> list[set[str]]:
    """Return the terms of each piece of a query's context, the newest piece first.

    A Chinese context has a message a line, the newest last; an English one the newest names first.
    """
    if language_of(context) == "zh":
        return [set(terms(line)) for line in reversed(context.splitlines())]
    return [set(terms(word)) for word in context.split()]
