"""How well each sentence of the evidence answers the question.

A sum of a few features with fixed weights. The weights were fitted once on public question sets, see
docs/extractive.md. Only the best sentences by words alone are embedded, since that costs the time.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from apps.llm.embedded.answer_kind import holds_new, kind_asked
from apps.llm.embedded.sentences import sentences_of
from apps.llm.embedded.words import folded, term_set, terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apps.core.passages import Passage
    from apps.llm.embedded.sentences import Sentence
    from apps.llm.embedded.vectors import SentenceVectors

SHORTLIST = 20
PRONOUNS = (
    "他", "她", "它", "其", "这", "该", "此", "这些", "他们", "it ", "its ", "he ", "she ", "they ",
    "this ", "these ", "his ", "her ", "their ",
)  # fmt: skip
FEATURES = (
    "cosine", "coverage", "bm25", "passage_cosine", "passage_coverage", "rank", "kind", "context",
    "is_question", "is_cut", "length", "labelled", "subject", "titled",
)  # fmt: skip
WEIGHTS = np.array([12.0, 2.0, 1.0, 6.0, 1.0, 1.0, 0.7, 0.7, -1.0, -0.5, 0.0, 0.3, 1.0, 0.0])
BM25_K = 1.2
TYPICAL_CHARS = 60


@dataclass(frozen=True, slots=True)
class Ranked:
    """A sentence with its score and features, in the order of `FEATURES`."""

    sentence: Sentence
    score: float
    features: tuple[float, ...]

    @property
    def cosine(self) -> float:
        """Similarity of the question and the sentence."""
        return self.features[0]

    @property
    def coverage(self) -> float:
        """Weighted share of the question's terms that the sentence or its headings hold."""
        return self.features[1]


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


def rank(question: str, passages: Sequence[Passage], vectors: SentenceVectors, standalone: str="") -> list[Ranked]:
    """Return the shortlisted sentences of the passages, best first."""
    sentences = sentences_of(passages)
    if not sentences:
        return []
    lexical = _lexical_features(question, passages, sentences, standalone or question)
    order = np.argsort(-(lexical @ WEIGHTS), kind="stable")[:SHORTLIST]
    chosen = [sentences[i] for i in order]
    features = lexical[order]
    asked = vectors.of_question(question)
    features[:, 0] = vectors.of_sentences([s.text for s in chosen]) @ asked
    scores = features @ WEIGHTS
    ranked = [
        Ranked(sentence, float(score), tuple(map(float, row)))
        for sentence, score, row in zip(chosen, scores, features, strict=True)
    ]
    return sorted(ranked, key=lambda item: -item.score)


def _lexical_features(
    question: str, passages: Sequence[Passage], sentences: Sequence[Sentence], standalone: str
) -> np.ndarray:
    weights = TermWeights([s.text for s in sentences])
    asked = term_set([question])
    kind = kind_asked(question)
    headings = [term_set([p.heading_path, p.filename.rpartition(".")[0]]) for p in passages]
    held_by_passage = [
        term_set([p.content]) | heading for p, heading in zip(passages, headings, strict=True)
    ]
    subjects = _subjects(standalone, passages)
    best_cosine = max(p.score for p in passages)
    rows = []
    for s in sentences:
        passage = passages[s.passage_index]
        own = set(terms(s.text))
        leans = s.text.lower().startswith(PRONOUNS)
        rows.append(
            (
                0.0,
                weights.coverage(asked, own),
                _bm25(asked, s.text, weights),
                passage.score - best_cosine,
                weights.coverage(asked, held_by_passage[s.passage_index]),
                1 / (1 + s.passage_index),
                float(kind is not None and holds_new(kind, s.text, question)),
                weights.coverage(asked, term_set([s.context])) if leans else 0.0,
                float(s.text.endswith(("？", "?"))),
                float(not s.is_whole),
                math.log(len(s.text) / TYPICAL_CHARS),
                float(s.is_labelled),
                subjects[s.passage_index],
                weights.coverage(asked, own | headings[s.passage_index]),
            )
        )
    return np.array(rows)


def _bm25(asked: set[str], text: str, weights: TermWeights) -> float:
    """Return the sentence's BM25 score without its length norm, in tens."""
    counts = Counter(terms(text))
    found = (weights.weight(t) * counts[t] * (BM25_K + 1) / (counts[t] + BM25_K) for t in asked)
    return sum(found) / 10


def _subjects(standalone: str, passages: Sequence[Passage]) -> list[float]:
    """Return for each passage how late its title is spoken of: 1 at the end, 0 for not at all."""
    text = folded(standalone)
    ends = []
    for p in passages:
        title = folded(p.heading_path.rpartition(" > ")[2] or p.filename.rpartition(".")[0])
        at = text.rfind(title) if len(title)>1 else -1
        ends.append(float(at+len(title)) if at>=0 else 0)
    last = max(ends) or 1
    return [e / last for e in ends]
