"""Chooses the sentences of the answer and writes them down, each followed by its label."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from apps.core.text.comparable import comparable
from apps.core.text.words import language_of, numbers, telling_terms, term_set, terms
from apps.llm.extractive.answer_kind import wants_explanation
from apps.llm.extractive.answerability import is_held, is_sufficient
from apps.llm.extractive.codes import codes
from apps.llm.extractive.cross_lingual import is_sufficient_across, own_lines, rank_across
from apps.llm.extractive.parts import parts_of
from apps.llm.extractive.ranking import rank
from apps.llm.extractive.sections import section_asked_for
from apps.llm.extractive.sentences import clean
from apps.llm.ports import QuotedAnswer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from apps.core.passages import Evidence, Passage
    from apps.core.text.words import Language
    from apps.llm.extractive.ranking import Ranked
    from apps.llm.extractive.sentence_vectors import SentenceVectors
    from apps.llm.extractive.sentences import Sentence

MAX_CHARS: dict[Language, int] = {"zh": 380, "en": 860}

NEARLY_AS_GOOD = 0.3  # in units of `Ranked.score`, as the margins are
MARGIN_ROW = 0.3  # the rows of a table exclude each other
MIN_ROWS = 2  # a single row is a 「标签：值」 line
MAX_ROWS = 6


class _Extent(NamedTuple):
    """How much may be quoted after the best sentence; margins are in units of `Ranked.score`."""

    margin: float  # a sentence of the same document may be this far behind
    foreign_margin: float  # one of another document: likely about something else
    sentences: int
    later: float  # of the margin, from the third sentence on: that one is often beside the point


FACT = _Extent(margin=1.2, foreign_margin=0.3, sentences=3, later=0.65)
EXPLANATION = _Extent(margin=3.0, foreign_margin=0.45, sentences=5, later=1.0)
SPREAD: dict[Language, float] = {"zh": 1.0, "en": 1.6}  # how far apart scores lie
SPREAD_ACROSS = 0.45


@dataclass(frozen=True, slots=True)
class _Material:
    """What an answer is made of: the evidence, its passages, and how to compare sentences."""

    evidence: Evidence
    passages: tuple[Passage, ...]
    vectors: SentenceVectors


def compose(question: str, evidence: Evidence, vectors: SentenceVectors) -> QuotedAnswer | None:
    """Return the answer with labels, None when the evidence does not suffice."""
    passages = tuple(source.passage for source in evidence.sources)
    material = _Material(evidence, passages, vectors)
    parts = parts_of(question)
    asked = [comparable(part) for part in parts]
    chosen = [
        section_asked_for(part, passages) or [r.sentence for r in _chosen_for(part, material)]
        for part in asked
    ]
    if not any(chosen):
        return None
    text = _written(_in_reading_order(_within_limit(_in_turns(chosen))), evidence)
    missing = [part for part, found in zip(parts, chosen, strict=True) if not found]
    return QuotedAnswer(text, tuple(clean(part).rstrip("？?。. ") for part in missing))


def _chosen_for(question: str, material: _Material) -> list[Ranked]:
    """Return the best sentences for one question, best first; none when they do not answer it.

    A follow-up is answered when it is, or when the question made standalone is and nothing that
    the follow-up says itself is missing. One that says nothing itself has its sentences chosen in
    context as well.
    """
    standalone = own_lines(comparable(material.evidence.question), question)
    passages = material.passages
    ranked = rank(question, passages, material.vectors, standalone=standalone)
    if not is_sufficient(question, passages, ranked):
        in_context = rank(standalone, passages, material.vectors, standalone=standalone)
        is_follow_up = standalone != question and is_held(question, passages, ranked)
        if not is_follow_up or not is_sufficient(standalone, passages, in_context):
            return _chosen_across(question, material)
        ranked = ranked if telling_terms(question) else in_context
    return _leading(question, ranked, passages, spread=SPREAD[language_of(question)])


def _chosen_across(question: str, material: _Material) -> list[Ranked]:
    """Return the best sentences in the other language, best first; none when they do not answer.

    A follow-up has to be answered as it stands: the question before it would vouch for any.
    """
    passages = material.passages
    context = material.evidence.question.rpartition("\n")[0]
    ranked = rank_across(question, passages, material.vectors, context=context)
    if not is_sufficient_across(question, passages, ranked):
        return []
    return _leading(question, ranked, passages, spread=SPREAD_ACROSS)


def _leading(
    question: str, ranked: Sequence[Ranked], passages: Sequence[Passage], *, spread: float
) -> list[Ranked]:
    """Return the first sentence and the next ones that are close enough to it.

    `spread` is how far apart the scores lie.
    """
    first = ranked[0]
    if table := _undecided_table(question, ranked, MARGIN_ROW * spread):
        return table
    document = passages[first.sentence.passage_index].document_id
    extent = EXPLANATION if wants_explanation(question) else FACT

    def margin(item: Ranked) -> float:
        if passages[item.sentence.passage_index].document_id != document:
            return extent.foreign_margin
        return MARGIN_ROW if item.sentence.is_labelled else extent.margin

    is_linked = _link_to(question, first, passages)

    def is_close(item: Ranked, share: float) -> bool:
        return item.score >= first.score - share * spread * margin(item)

    rest = [
        item
        for item in ranked[1:]
        if is_linked(item)
        and item.sentence.is_whole
        and not item.features.is_question
        and is_close(item, 1.0)
    ]
    later = [item for item in rest[1:] if is_close(item, extent.later)]
    return _rule_first([first, *rest[:1], *later][: extent.sentences])


def _link_to(
    question: str, first: Ranked, passages: Sequence[Passage]
) -> Callable[[Ranked], bool]:
    """Return what tells whether a sentence speaks of what is asked, as the best one does.

    A file's name is no link: it stands over every sentence of a document.
    """
    asked_terms = set(terms(question))
    asked_codes = codes(question) & codes(first.sentence.text)

    def speaks_of_it(sentence: Sentence) -> bool:
        above = passages[sentence.passage_index].heading_path
        return bool(asked_terms & term_set([sentence.text, above]))

    is_any_linked = not asked_codes and not speaks_of_it(first.sentence)

    def is_linked(item: Ranked) -> bool:
        if is_any_linked or _follows(first.sentence, item.sentence):
            return True
        if asked_codes:
            return bool(codes(item.sentence.text) & asked_codes)
        return speaks_of_it(item.sentence)

    return is_linked


def _undecided_table(question: str, ranked: Sequence[Ranked], margin: float) -> list[Ranked]:
    """Return the rows of the best row's table when the question does not tell one of them apart.

    Either it asks for no number and two rows lie within `margin`, or its number stands in no row
    and falls into the range of one (5 years into "3 to 8 years"): the reader compares. Empty when
    the best sentence is no row or is the only one of its table.
    """
    first = ranked[0].sentence
    label = _row_label(first)
    rows = [
        item
        for item in ranked
        if item.sentence.passage_index == first.passage_index
        and _row_label(item.sentence) == label
    ]
    if not label or len(rows) < MIN_ROWS:
        return []
    asked = numbers(question)
    held = {number for item in rows for number in numbers(item.sentence.text)}
    is_told_apart = asked & held if asked else rows[1].score < rows[0].score - margin
    return [] if is_told_apart else sorted(rows[:MAX_ROWS], key=lambda i: i.sentence.position)


def _row_label(sentence: Sentence) -> str:
    """Return what stands before the first colon of a row: rows of one table share it."""
    return re.split("[：:]", sentence.text)[0] if sentence.is_labelled else ""


def _follows(one: Sentence, other: Sentence) -> bool:
    """Whether `other` is the next sentence after `one`."""
    return (other.passage_index, other.position) == (one.passage_index, one.position + 1)


def _rule_first(chosen: list[Ranked]) -> list[Ranked]:
    """Return the sentences, of those about as good as the best the earliest in its passage first.

    Documents state the rule before its exceptions. Rows stay: none is the exception of another.
    """
    best = chosen[0]
    if best.sentence.is_labelled:
        return chosen
    as_good = [
        item
        for item in chosen
        if item.sentence.passage_index == best.sentence.passage_index
        and item.score >= best.score - NEARLY_AS_GOOD
        and not item.sentence.is_labelled
    ]
    lead = min(as_good, key=lambda item: item.sentence.position)
    return [lead, *(item for item in chosen if item is not lead)]


def _in_turns(chosen: Iterable[Sequence[Sentence]]) -> list[Sentence]:
    """Return the best sentence of each part, then the second ones, and so on, each once."""
    turns = (sentence for turn in zip_longest(*chosen) for sentence in turn if sentence)
    return list(dict.fromkeys(turns))


def _within_limit(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return the sentences that together stay within the limit of their language."""
    kept = [sentences[0]]
    left = MAX_CHARS[language_of(kept[0].text)] - len(kept[0].text)
    for sentence in sentences[1:]:
        if len(sentence.text) <= left:
            kept.append(sentence)
            left -= len(sentence.text)
    return kept


def _in_reading_order(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return the best sentence first, then those of each passage as they stand there."""
    best, *rest = sentences
    used = list(dict.fromkeys(s.passage_index for s in sentences))
    return [best, *sorted(rest, key=lambda s: (used.index(s.passage_index), s.position))]


def _written(sentences: Sequence[Sentence], evidence: Evidence) -> str:
    text = ""
    for sentence in sentences:
        gap = "" if not text else "\n\n" if sentence.is_labelled else " "
        text += f"{gap}{sentence.text} [{evidence.sources[sentence.passage_index].label}]"
    return text
