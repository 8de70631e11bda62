"""What the rest of the product may expect of an embedding model."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


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
