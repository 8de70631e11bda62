"""Questions about a section ("what does X say about Y"): quoted is what stands under its heading.

Refuses to guess: where no heading names the topic, and no sentence of the named document speaks of
it, the question is one like any other.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from apps.core.text.words import folded, terms
from apps.llm.extractive.headings import bare
from apps.llm.extractive.sentences import sentences_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apps.core.passages import Passage
    from apps.llm.extractive.sentences import Sentence

MAX_SENTENCES = 5
MIN_TOPIC = 2  # letters
_SAYS = (
    r"(?:(?:都|是)?(?:说|讲|写)了?(?:些)?什么|怎么(?:说|写|讲|规定)|(?:是)?如何规定"
    r"|有?(?:什么|哪些)(?:规定|要求|内容|说明))"
)
_TOPICS = (
    re.compile(
        rf"(?:关于|有关|对于?)(?P<topic>[^，。？?《》]{{1,20}}?)"
        rf"(?:方面|(?:这?一)?[章节]|这?部分)?的?{_SAYS}"
    ),
    re.compile(
        r"(?:^|》里?的?)(?P<topic>[^，。？?《》]{2,20}?)(?:这?一?[章节]|这?部分)?都?[讲说写]了(?:些)?什么"
    ),
    re.compile(r"\bsays? (?:about|on) (?P<topic>[^?]+)", re.IGNORECASE),
    re.compile(
        r"\b(?:rules?|section|chapter|regulations?) (?:on|about|for) (?P<topic>[^?]+)",
        re.IGNORECASE,
    ),
)
_WHOLE = (
    re.compile(rf"^《[^》]+》里?{_SAYS}[？?。]?$"),
    re.compile(r"^what does [“\"][^”\"]+[”\"] say\??$", re.IGNORECASE),
)


def section_asked_for(question: str, passages: Sequence[Passage]) -> list[Sentence]:
    """Return the first sentences of the section or document that a question asks about.

    In reading order; none when the question is of another form, or nothing bears that name.
    """
    text = question.strip()
    named = _named(text, passages)
    if any(pattern.match(text) for pattern in _WHOLE):
        return _in_order(_sentences(named), named)
    among = named or passages
    if alone := _in_order(_titled(bare(text), _sentences(passages)), passages):
        return alone
    for pattern in _TOPICS:
        if match := pattern.search(text):
            return _in_order(_under(match["topic"], _sentences(among), named), among)
    return []


def _named(question: str, passages: Sequence[Passage]) -> list[Passage]:
    """Return the passages of the documents that the question names."""
    asked = folded(question)
    return [p for p in passages if folded(p.filename.rpartition(".")[0]) in asked]


def _sentences(passages: Sequence[Passage]) -> list[Sentence]:
    return [s for s in sentences_of(passages) if s.is_whole and not s.is_furniture]


def _under(topic: str, sentences: Sequence[Sentence], named: Sequence[Passage]) -> list[Sentence]:
    """Return the sentences under the heading `topic`, else those under one that holds it.

    In a document that the question names, else those that speak of the topic.
    """
    title = bare(topic)
    if len(title) < MIN_TOPIC:
        return []
    asked = set(terms(topic))
    return (
        _titled(title, sentences)
        or [s for s in sentences if any(title in bare(heading) for heading in s.headings)]
        or [s for s in sentences if named and asked <= set(terms(s.text))]
    )


def _titled(topic: str, sentences: Sequence[Sentence]) -> list[Sentence]:
    return [s for s in sentences if topic in map(bare, s.headings)]


def _in_order(sentences: Sequence[Sentence], passages: Sequence[Passage]) -> list[Sentence]:
    """Return the first sentences of the first document among them."""
    if not sentences:
        return []
    document = passages[sentences[0].passage_index].document_id
    own = [s for s in sentences if passages[s.passage_index].document_id == document]
    own.sort(key=lambda s: (passages[s.passage_index].order_index, s.position))
    return own[:MAX_SENTENCES]
