"""The extractive chat model: answers from passages without a language model.

It quotes the sentences that answer. It never reads prompts, and it takes document text for data
only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.llm.extractive import multi_hop
from apps.llm.extractive.answer_selection import compose
from apps.llm.extractive.followups import own_part
from apps.llm.extractive.routing import asks_again, without_courtesies
from apps.llm.extractive.sentence_vectors import SentenceVectors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apps.core.passages import Evidence, Search
    from apps.llm.ports import EmbeddingModel, QuotedAnswer


class ExtractiveChatModel:
    """A ChatPort; `embeddings` measures how near a sentence is."""

    def __init__(self, embeddings: EmbeddingModel) -> None:
        self._vectors = SentenceVectors(embeddings)

    def next_query(self, question: str, searches: Sequence[Search]) -> str | None:
        """Return the next search: a part of the question, or a name that was found."""
        queries = [search.query for search in searches]
        return multi_hop.next_query(question, queries, [search.passages for search in searches])

    def answer(self, question: str, evidence: Evidence) -> QuotedAnswer | None:
        """Return the sentences that answer, each with its label."""
        asked = without_courtesies(question)
        asked = own_part(evidence.question) if asks_again(asked) else asked
        return compose(asked, evidence, self._vectors)
