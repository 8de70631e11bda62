"""What the rest of the product may expect of an embedding model and of the embedded chat model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apps.core.passages import Evidence, Search


@runtime_checkable
class EmbeddingModel(Protocol):
    """Turns texts into unit vectors; compatible with LangChain's `Embeddings`.

    `evidence_threshold` is the calibrated cosine under which a passage is no evidence; None means
    that the model was never calibrated, and then nothing is refused by score alone.
    """

    name: str
    dimension: int
    batch_size: int
    evidence_threshold: float | None

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return one vector of `dimension` floats per text, in order.

        Raises:
            EmbeddingFailedError: count, dimension, NaN or zero vectors are wrong.
            ModelTimeoutError, ModelUnavailableError: the endpoint failed.
        """
        ...

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a search query; raises like `embed_documents`."""
        ...

    async def aembed_query(self, text: str) -> list[float]:
        """Do the same in an event loop; cancelling ends the request to an endpoint."""
        ...


@dataclass(frozen=True, slots=True)
class QuotedAnswer:
    """Sentences with labels, and the parts of the question that none of them answers."""

    text: str
    unanswered: tuple[str, ...] = ()


class ChatPort(Protocol):
    """The embedded chat model, on plain values: it reads no prompts and costs nothing.

    The methods take time and belong into a thread.
    """

    def next_query(self, question: str, searches: Sequence[Search]) -> str | None:
        """Return the next search for a standalone question, None when there is none."""
        ...

    def answer(self, question: str, evidence: Evidence) -> QuotedAnswer | None:
        """Return an answer with the labels of the evidence, None when it does not suffice."""
        ...
