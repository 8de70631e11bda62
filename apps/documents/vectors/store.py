"""What the rest of the app may expect of a vector store, wherever it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from apps.documents.vectors.records import StoreHealth, Vector, VectorHit, VectorRecord


class VectorStore(Protocol):
    """One collection of chunk vectors. Every method may be repeated without harm.

    All methods raise VectorStoreUnavailableError when the store cannot be reached, and all but
    `health` raise VectorStoreLoadingError while it loads.
    """

    def health(self) -> StoreHealth:
        """Return the state of the store; quick, also while it loads."""
        ...

    def ensure(self, dimension: int) -> None:
        """Make the collection if it is absent.

        Raises:
            VectorDimensionError: it exists with another dimension.
        """
        ...

    def upsert(self, records: Sequence[VectorRecord]) -> None:
        """Store the vectors, replacing those with the same chunk id."""
        ...

    def delete_document(self, document_id: UUID) -> None:
        """Remove all vectors of a document."""
        ...

    def search(
        self,
        vector: Vector,
        *,
        scopes: Sequence[str],
        limit: int,
        chunk_ids: Sequence[UUID] | None = None,
    ) -> list[VectorHit]:
        """Return the `limit` nearest chunks within `scopes`, best first; none without a scope.

        With `chunk_ids` only these chunks count.
        """
        ...

    def count(self, document_id: UUID | None = None) -> int:
        """Return how many vectors there are, of one document or in all."""
        ...

    def counts_by_document(self) -> dict[UUID, int]:
        """Return how many vectors each document has; complete, so slow on large collections."""
        ...

    def flush(self) -> None:
        """Seal what was written, so that searches use the index for it."""
        ...

    def drop(self) -> None:
        """Remove the collection with everything in it."""
        ...
