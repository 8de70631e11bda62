"""Remembers sentence vectors, since a conversation quotes from the same passages again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

import numpy as np

from apps.core.text.comparable import comparable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from apps.llm.ports import EmbeddingModel

CAPACITY = 2000  # 384 floats of 4 bytes each: 3 MB


class SentenceVectors:
    """The most recent sentence vectors of one embedding model; safe to share between threads."""

    def __init__(self, embeddings: EmbeddingModel, capacity: int = CAPACITY) -> None:
        self._embeddings = embeddings
        self._capacity = capacity
        self._known: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._lock = threading.Lock()

    def of_question(self, question: str) -> NDArray[np.float32]:
        """Return the vector of a question, as a search query."""
        return np.array(self._embeddings.embed_query(comparable(question)), dtype=np.float32)

    def of_sentences(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row per text; only texts that are not remembered are embedded."""
        with self._lock:
            found = {text: self._known[text] for text in texts if text in self._known}
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        if missing:
            compared = [comparable(text) for text in missing]
            made = np.array(self._embeddings.embed_documents(compared), dtype=np.float32)
            found.update(zip(missing, made, strict=True))
        self._remember(found)
        return np.array([found[text] for text in texts], dtype=np.float32)

    def _remember(self, vectors: dict[str, NDArray[np.float32]]) -> None:
        with self._lock:
            for text, vector in vectors.items():
                self._known[text] = vector
                self._known.move_to_end(text)
            while len(self._known) > self._capacity:
                self._known.popitem(last=False)
