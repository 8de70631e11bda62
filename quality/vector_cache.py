"""Keeps the vectors of the embedded model on disk, so that a set is embedded once.

A batch gives the same bits as single texts, so remembered vectors change no figure.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from typing import TYPE_CHECKING

import numpy as np

from apps.llm.embeddings.bundled import EmbeddedEmbeddings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Embed = Callable[[list[str]], list[list[float]]]


class VectorCache:
    """Vectors by the hash of kind and text, in one SQLite file."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._rows = sqlite3.connect(path, check_same_thread=False, timeout=60)
        self._rows.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, value BLOB)")
        self._lock = threading.Lock()

    def install(self) -> None:
        """Let every embedded model of this process remember."""
        documents, query = EmbeddedEmbeddings.embed_documents, EmbeddedEmbeddings.embed_query

        def embed_documents(model: EmbeddedEmbeddings, texts: list[str]) -> list[list[float]]:
            return self._looked_up("d", texts, lambda missing: documents(model, missing))

        def embed_query(model: EmbeddedEmbeddings, text: str) -> list[float]:
            return self._looked_up("q", [text], lambda missing: [query(model, missing[0])])[0]

        EmbeddedEmbeddings.embed_documents = embed_documents
        EmbeddedEmbeddings.embed_query = embed_query

    def _looked_up(self, kind: str, texts: list[str], embed: Embed) -> list[list[float]]:
        keys = [
            hashlib.sha256(f"{kind}{text}".encode(errors="replace")).digest() for text in texts
        ]
        found = {key: vector for key in keys if (vector := self._read(key)) is not None}
        missing = {k: t for k, t in zip(keys, texts, strict=True) if k not in found}
        for start in range(0, len(missing), EmbeddedEmbeddings.batch_size):
            part = dict(list(missing.items())[start : start + EmbeddedEmbeddings.batch_size])
            made = dict(zip(part, embed(list(part.values())), strict=True))
            self._write(made)
            found |= made
        return [found[key] for key in keys]

    def _read(self, key: bytes) -> list[float] | None:
        with self._lock:
            row = self._rows.execute("SELECT value FROM vectors WHERE key = ?", (key,)).fetchone()
        return None if row is None else list(map(float, np.frombuffer(row[0], dtype="<f4")))

    def _write(self, vectors: dict[bytes, list[float]]) -> None:
        rows = [(key, np.array(vector, dtype="<f4").tobytes()) for key, vector in vectors.items()]
        with self._lock, self._rows:
            self._rows.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
