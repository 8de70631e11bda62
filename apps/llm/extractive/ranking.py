"""How well each sentence of the evidence answers the question.

A sum of a few features with fixed weights, fitted once on public question sets, see
docs/extractive.md. Only the best sentences by words alone are embedded: that is what costs time.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from apps.core.text.words import term_set, terms
from apps.llm.extractive.answer_kind import holds_new, kind_asked
from apps.llm.extractive.exclusions import possible_answers
from apps.llm.extractive.sentences import sentences_of
from apps.llm.extractive.titles import last_mention, of_subject, title_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from apps.core.passages import Passage
    from apps.llm.extractive.answer_kind import Kind
    from apps.llm.extractive.sentence_vectors import SentenceVectors
    from apps.llm.extractive.sentences import Sentence

ANNOUNCING = ("?", "？", ":", "：")  # an answer in a list of questions, an item of a list
SHORTLIST = 12
FOLLOW_UP_TRUST = 0.4  # passage scores then speak of the conversation as well
PRONOUNS = (
    *("他", "她", "它", "其", "这", "该", "此"),
    *("it ", "its ", "he ", "she ", "they ", "this ", "these ", "his ", "her ", "their "),
)


class Features(NamedTuple):
    """What speaks for a sentence, each about from 0 to 1."""

    cosine: float  # question and sentence
    coverage: float  # weighted share of the question's terms in the sentence and its title
    passage_cosine: float  # query and passage, less the best passage's
    passage_coverage: float  # the same share in the whole passage
    rank: float  # 1 for the first source, 1/2 for the second
    kind: float  # the sentence holds a new time, number, place … if one is asked for
    context: float  # the share in the sentence before, when this one leans on it
    is_question: float
    is_cut: float  # the passage's border cuts the sentence
    is_labelled: float  # a 「标签：值」 line or a table row
    subject: float  # how late in the conversation the passage's title is spoken of


WEIGHTS = Features(
    cosine=13.0,
    coverage=3.0,
    passage_cosine=10.0,
    passage_coverage=0.5,
    rank=0.5,
    kind=0.4,
    context=0.6,
    is_question=-1.0,
    is_cut=-0.8,
    is_labelled=0.6,
    subject=0.7,
)


@dataclass(frozen=True, slots=True)
class Ranked:
    """A sentence with its score."""

    sentence: Sentence
    score: float
    features: Features


class TermWeights:
    """How telling a term is: the fewer sentences of the evidence hold it, the more it tells."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._count = len(texts)
        self._holding = Counter(term for text in texts for term in set(terms(text)))

    def weight(self, term: str) -> float:
        """Return the inverse document frequency as BM25 defines it."""
        holding = self._holding[term]
        return math.log(1 + (self._count - holding + 0.5) / (holding + 0.5))

    def coverage(self, asked: set[str], held: set[str]) -> float:
        """Return the weighted share of `asked` that `held` holds; 0 when nothing is asked."""
        total = sum(self.weight(term) for term in asked)
        return sum(self.weight(term) for term in asked & held) / total if total else 0.0


@dataclass(frozen=True, slots=True)
class _Question:
    text: str
    terms: set[str]
    kind: Kind | None
    weights: TermWeights


@dataclass(frozen=True, slots=True)
class _Place:
    """What the sentences of one passage share."""

    title_terms: set[str]
    cosine: float
    coverage: float
    rank: float
    subject: float


def rank(
    question: str, passages: Sequence[Passage], vectors: SentenceVectors, *, standalone: str
) -> list[Ranked]:
    """Return the shortlisted sentences of the passages, best first.

    `question` chooses among the sentences, `standalone` (the question with what it needs of the
    conversation) tells which passage is spoken of.
    """
    context = standalone.rpartition("\n")[0]
    shortlist = by_words(question, passages, standalone=standalone, context=context)[:SHORTLIST]
    if not shortlist:
        return []
    named = standalone == question
    texts = [embedded_text(r.sentence, passages, named=named) for r in shortlist]
    cosines = vectors.of_sentences(texts) @ vectors.of_question(question)
    return with_cosines(shortlist, cosines, WEIGHTS)


def by_words(
    question: str, passages: Sequence[Passage], *, standalone: str, context: str
) -> list[Ranked]:
    """Return all sentences without their cosine, in the order of the features that are left.

    `context` is what of the conversation leads the question.
    """
    possible = possible_answers(question, sentences_of(passages))
    sentences = of_subject(question.rpartition("\n")[2], context, possible, passages)
    if not sentences:
        return []
    weights = TermWeights([s.text for s in sentences])
    asked = _Question(question, term_set([question]), kind_asked(question), weights)
    places = _places(asked, passages, standalone)
    scored = [Ranked(s, 0.0, _lexical(asked, s, places[s.passage_index])) for s in sentences]
    return sorted(scored, key=lambda item: -_total(item.features, WEIGHTS))


def with_cosines(
    shortlist: Sequence[Ranked], cosines: NDArray[np.float32], weights: Features
) -> list[Ranked]:
    """Return the sentences with their cosines and scores, best first."""
    completed = (
        item.features._replace(cosine=float(cosine))
        for item, cosine in zip(shortlist, cosines, strict=True)
    )
    ranked = [
        Ranked(item.sentence, _total(features, weights), features)
        for item, features in zip(shortlist, completed, strict=True)
    ]
    return sorted(ranked, key=lambda item: -item.score)


def embedded_text(sentence: Sentence, passages: Sequence[Passage], *, named: bool) -> str:
    """Return the sentence, led by its heading where the question names what it asks about.

    Sentences rarely repeat the subject that their heading names. A follow-up does not name it
    either, so there a heading would only blur the comparison.
    """
    title = sentence.headings[-1] if sentence.headings else ""
    return f"{title}: {sentence.text}" if named and title not in sentence.text else sentence.text


def _total(features: Features, weights: Features) -> float:
    return sum(value * weight for value, weight in zip(features, weights, strict=True))


def _places(asked: _Question, passages: Sequence[Passage], standalone: str) -> list[_Place]:
    best = max(p.score for p in passages)
    trust = 1.0 if standalone == asked.text else FOLLOW_UP_TRUST
    places = []
    for index, (passage, subject) in enumerate(
        zip(passages, _subjects(standalone, passages), strict=True)
    ):
        title = term_set([passage.heading_path, title_of(passage)])
        coverage = asked.weights.coverage(asked.terms, title | set(terms(passage.content)))
        places.append(
            _Place(title, trust * (passage.score - best), coverage, 1 / (1 + index), subject)
        )
    return places


def _subjects(standalone: str, passages: Sequence[Passage]) -> list[float]:
    """Return for each passage how late its title is spoken of: 1 for the last, 0 for never."""
    ends = [last_mention(passage, standalone) for passage in passages]
    return [end / (max(ends) or 1) for end in ends]


def _lexical(asked: _Question, sentence: Sentence, place: _Place) -> Features:
    """Return the features that need no vectors; the cosine is 0."""
    held = set(terms(sentence.text)) | place.title_terms
    leans = sentence.text.lower().startswith(PRONOUNS) or sentence.context.endswith(ANNOUNCING)
    is_new = asked.kind is not None and holds_new(asked.kind, sentence.text, asked.text)
    return Features(
        cosine=0.0,
        coverage=asked.weights.coverage(asked.terms, held),
        passage_cosine=place.cosine,
        passage_coverage=place.coverage,
        rank=place.rank,
        kind=float(is_new),
        context=asked.weights.coverage(asked.terms, term_set([sentence.context]))
        if leans
        else 0.0,
        is_question=float(sentence.text.endswith(("？", "?"))),
        is_cut=float(not sentence.is_whole),
        is_labelled=float(sentence.is_labelled),
        subject=place.subject,
    )
