"""The light client of the vector owner: no pymilvus, only frames on its socket.

Every call has a time-out. A call on a connection that the owner closed meanwhile is made once more
on a new one: all methods of the store may be repeated.
"""

from __future__ import annotations

import threading
import time
from multiprocessing import AuthenticationError
from multiprocessing.connection import answer_challenge, deliver_challenge
from typing import TYPE_CHECKING, Any
from uuid import UUID

from apps.documents.errors import (
    InvalidVectorError,
    VectorDimensionError,
    VectorStoreLoadingError,
    VectorStoreUnavailableError,
)
from apps.documents.vectors.records import StoreHealth, VectorHit, checked_matrix, checked_scope
from apps.documents.vectors.wire import PatientConnection, connect, receive_frame, send_frame

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from apps.documents.vectors.records import Vector, VectorRecord

CONNECT_TIMEOUT_S = 2.0
HEALTH_TIMEOUT_S = 2.0
READ_TIMEOUT_S = 15.0
WRITE_TIMEOUT_S = 120.0  # a flush may wait for a compaction

ERRORS = {
    error.code: error
    for error in (
        VectorStoreUnavailableError,
        VectorStoreLoadingError,
        VectorDimensionError,
        InvalidVectorError,
    )
}


class VectorClient:
    """A VectorStore in another process; safe to use from several threads."""

    def __init__(self, path: Path, *, key: bytes) -> None:
        self._path, self._key = path, key
        self._idle: list[PatientConnection] = []
        self._lock = threading.Lock()

    def close(self) -> None:
        """Close the idle connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def health(self) -> StoreHealth:
        """Return the state of the store."""
        state, instance, dimension = self._call("health", HEALTH_TIMEOUT_S)
        return StoreHealth(state, instance, dimension)

    def ensure(self, dimension: int) -> None:
        """Make the collection if it is absent; see VectorStore."""
        self._call("ensure", WRITE_TIMEOUT_S, dimension=dimension)

    def upsert(self, records: Sequence[VectorRecord]) -> None:
        """Store the vectors, replacing those with the same chunk id."""
        if not records:
            return
        rows = [
            (str(r.chunk_id), str(r.document_id), checked_scope(r.scope), r.order_index)
            for r in records
        ]
        block = checked_matrix([record.vector for record in records]).tobytes()
        self._call("upsert", WRITE_TIMEOUT_S, block, rows=rows)

    def delete_document(self, document_id: UUID) -> None:
        """Remove all vectors of a document."""
        self._call("delete_document", WRITE_TIMEOUT_S, document_id=str(document_id))

    def search(
        self,
        vector: Vector,
        *,
        scopes: Sequence[str],
        limit: int,
        chunk_ids: Sequence[UUID] | None = None,
    ) -> list[VectorHit]:
        """Return the `limit` nearest chunks within `scopes`, best first; see VectorStore."""
        block = checked_matrix([vector]).tobytes()
        names = [checked_scope(scope) for scope in scopes]
        wanted = None if chunk_ids is None else [str(chunk_id) for chunk_id in chunk_ids]
        hits = self._call(
            "search", READ_TIMEOUT_S, block, scopes=names, limit=limit, chunk_ids=wanted
        )
        return [VectorHit(UUID(chunk_id), score) for chunk_id, score in hits]

    def count(self, document_id: UUID | None = None) -> int:
        """Return how many vectors there are, of one document or in all."""
        wanted = None if document_id is None else str(document_id)
        return int(self._call("count", READ_TIMEOUT_S, document_id=wanted))

    def counts_by_document(self) -> dict[UUID, int]:
        """Return how many vectors each document has."""
        counts = self._call("counts_by_document", WRITE_TIMEOUT_S)
        return {UUID(document_id): number for document_id, number in counts.items()}

    def flush(self) -> None:
        """Seal what was written."""
        self._call("flush", WRITE_TIMEOUT_S)

    def drop(self) -> None:
        """Remove the collection with everything in it."""
        self._call("drop", WRITE_TIMEOUT_S)

    def _call(self, method: str, timeout_s: float, block: bytes = b"", **values: object) -> Any:
        header = {"method": method, **values}
        try:
            answer = self._ask_idle(header, block, timeout_s)
            if answer is None:
                answer = self._exchange(self._open(), header, block, timeout_s=timeout_s)
        except (EOFError, OSError, AuthenticationError) as error:
            raise VectorStoreUnavailableError from error
        if "error" in answer:
            raise ERRORS[answer["error"]](**answer["places"])
        return answer["result"]

    def _ask_idle(
        self, header: dict[str, object], block: bytes, timeout_s: float
    ) -> dict[str, Any] | None:
        """Make one call on an idle connection; None when there is none that still works."""
        with self._lock:
            idle = self._idle.pop() if self._idle else None
        if idle is None:
            return None
        try:
            return self._exchange(idle, header, block, timeout_s=timeout_s)
        except (EOFError, ConnectionError):
            return None

    def _open(self) -> PatientConnection:
        connection = connect(self._path, timeout_s=CONNECT_TIMEOUT_S)
        try:
            answer_challenge(connection, self._key)
            deliver_challenge(connection, self._key)
        except (EOFError, OSError, AuthenticationError):
            connection.close()
            raise
        return connection

    def _exchange(
        self,
        connection: PatientConnection,
        header: dict[str, object],
        block: bytes,
        *,
        timeout_s: float,
    ) -> dict[str, Any]:
        """Make one call; the connection is kept for the next one unless the call broke off."""
        connection.deadline = time.monotonic() + timeout_s
        try:
            send_frame(connection, header, block)
            answer, _block = receive_frame(connection)
        except BaseException:
            connection.close()
            raise
        with self._lock:
            self._idle.append(connection)
        return answer
