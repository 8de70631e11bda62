"""The owner of the local vector folder: serves it to the other processes, one writer at a time.

It answers `health` while the data loads and refuses everything else until then. Nothing but the
methods of VectorStore can be called.
"""

from __future__ import annotations

import logging
import threading
import uuid
from multiprocessing import AuthenticationError
from multiprocessing.connection import (
    Connection,
    Listener,
    answer_challenge,
    deliver_challenge,
)
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np

from apps.core.errors import AppError
from apps.documents.errors import VectorStoreLoadingError, VectorStoreUnavailableError
from apps.documents.vectors.milvus import MilvusStore
from apps.documents.vectors.records import StoreHealth, VectorRecord
from apps.documents.vectors.wire import receive_frame, send_frame

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from apps.documents.vectors.local_folder import LocalFolder

    Header = dict[str, Any]

logger = logging.getLogger(__name__)

BACKLOG = 64
CALL_TIMEOUT_S = 600.0  # of the owner's own client: a slow load or flush is not an error
CLOSE_WAIT_S = 1.0


class VectorServer:
    """Serves one open folder at `path` until `close`; connections run in threads."""

    def __init__(self, folder: LocalFolder, path: Path, *, key: bytes) -> None:
        self._folder, self._path, self._key = folder, path, key
        self._instance = uuid.uuid4().hex
        self._store: MilvusStore | None = None
        self._writing = threading.RLock()
        self._closing = False
        self._handlers: dict[str, Callable[[Header, bytes], object]] = {
            "ensure": self._ensure,
            "upsert": self._upsert,
            "delete_document": self._delete_document,
            "search": self._search,
            "count": self._count,
            "counts_by_document": self._counts_by_document,
            "flush": self._flush,
            "drop": self._drop,
        }

    def start(self) -> None:
        """Listen, and load the data in the background; a stale socket file is replaced."""
        self._path.unlink(missing_ok=True)
        self._listener = Listener(str(self._path), family="AF_UNIX", backlog=BACKLOG)
        self._path.chmod(0o600)
        threading.Thread(target=self._accept, name="vectors-accept", daemon=True).start()

    def load(self) -> None:
        """Bring the data into memory; calls are answered from then on.

        Raises:
            OSError, VectorStoreUnavailableError: the data cannot be read.
        """
        self._folder.start()
        self._store = MilvusStore(self._folder.uri, timeout_s=CALL_TIMEOUT_S)

    def close(self) -> None:
        """Let the running write end, refuse new ones, and close the folder cleanly."""
        self._closing = True
        if not self._writing.acquire(timeout=CLOSE_WAIT_S):
            logger.warning("a write is still running; its acknowledged part is in the log")
        self._listener.close()
        self._folder.close()

    def _accept(self) -> None:
        while not self._closing:
            try:
                connection = self._listener.accept()
            except OSError:
                if self._closing:
                    return
                logger.exception("accepting a connection failed")
                continue
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: Connection) -> None:
        """Answer the calls of one client until it hangs up."""
        with connection:
            try:
                deliver_challenge(connection, self._key)
                answer_challenge(connection, self._key)
                while True:
                    send_frame(connection, self._answer(*receive_frame(connection)))
            except AuthenticationError:
                logger.warning("a client without the key was refused")
            except (EOFError, OSError):
                return

    def _answer(self, header: Header, block: bytes) -> Header:
        try:
            return {"result": self._call(header, block)}
        except AppError as error:
            return {"error": error.code, "places": error.places}
        except Exception:  # process boundary: the client gets a code, the log the rest
            logger.exception("call failed")
            return {"error": VectorStoreUnavailableError.code, "places": {}}

    def _call(self, header: Header, block: bytes) -> object:
        if header["method"] == "health":
            return self._health()
        if self._closing:
            raise VectorStoreUnavailableError
        return self._handlers[header["method"]](header, block)

    @property
    def _ready(self) -> MilvusStore:
        if self._store is None:
            raise VectorStoreLoadingError
        return self._store

    def _health(self) -> list[object]:
        if self._store is None:
            return ["loading", self._instance, None]
        health: StoreHealth = self._store.health()
        return [health.state, self._instance, health.dimension]

    def _ensure(self, header: Header, _block: bytes) -> None:
        with self._writing:
            self._ready.ensure(header["dimension"])

    def _upsert(self, header: Header, block: bytes) -> None:
        rows = header["rows"]
        vectors = np.frombuffer(block, dtype=np.float32).reshape(len(rows), -1)
        records = [
            VectorRecord(UUID(chunk), UUID(document), scope, order, vector)
            for (chunk, document, scope, order), vector in zip(rows, vectors, strict=True)
        ]
        with self._writing:
            self._ready.upsert(records)

    def _delete_document(self, header: Header, _block: bytes) -> None:
        with self._writing:
            self._ready.delete_document(UUID(header["document_id"]))

    def _search(self, header: Header, block: bytes) -> list[tuple[str, float]]:
        vector = np.frombuffer(block, dtype=np.float32)
        hits = self._ready.search(
            vector,
            scopes=header["scopes"],
            limit=header["limit"],
            chunk_ids=header["chunk_ids"],
        )
        return [(str(hit.chunk_id), hit.score) for hit in hits]

    def _count(self, header: Header, _block: bytes) -> int:
        document_id = header["document_id"]
        return self._ready.count(UUID(document_id) if document_id else None)

    def _counts_by_document(self, _header: Header, _block: bytes) -> dict[str, int]:
        return {str(key): number for key, number in self._ready.counts_by_document().items()}

    def _flush(self, _header: Header, _block: bytes) -> None:
        with self._writing:
            self._ready.flush()

    def _drop(self, _header: Header, _block: bytes) -> None:
        with self._writing:
            self._ready.drop()
