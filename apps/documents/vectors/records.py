"""What goes into the vector store and what comes out; refuses values that would poison it.

NaN, infinite and zero vectors are accepted by Milvus Lite and break its answers later, and a
filter is text: so every vector is checked here, and scopes are validated before they are used.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from apps.documents.errors import InvalidVectorError, VectorDimensionError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]
    Vector = Sequence[float] | Matrix

StoreState = Literal["loading", "ready"]

_SCOPE = re.compile(r"(user|session):[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class VectorRecord:
    """The vector of one chunk; `scope` says who may find it, see `user_scope`."""

    chunk_id: UUID
    document_id: UUID
    scope: str
    order_index: int
    vector: Vector


@dataclass(frozen=True, slots=True)
class VectorHit:
    """A chunk that a search found; `score` is the cosine similarity, from -1 to 1."""

    chunk_id: UUID
    score: float


@dataclass(frozen=True, slots=True)
class StoreHealth:
    """State of the store. `instance` changes with every start; `dimension` is None while empty."""

    state: StoreState
    instance: str
    dimension: int | None


def user_scope(user_id: UUID) -> str:
    """Return the scope of the documents of one person."""
    return f"user:{user_id}"


def checked_scope(scope: str) -> str:
    """Return `scope`.

    Raises:
        ValueError: it is not of the form `user:<uuid>` or `session:<uuid>`.
    """
    if _SCOPE.fullmatch(scope) is None:
        raise ValueError("malformed scope")
    return scope


def checked_matrix(vectors: Sequence[Vector], dimension: int | None = None) -> Matrix:
    """Return the vectors as the rows of a float32 matrix.

    Raises:
        VectorDimensionError: a vector does not have `dimension` places (None: that of the first).
        InvalidVectorError: a vector holds NaN or infinity, or is zero.
    """
    expected = len(vectors[0]) if dimension is None else dimension
    for vector in vectors:
        if len(vector) != expected:
            raise VectorDimensionError(actual=len(vector), expected=expected)
    with np.errstate(over="ignore"):
        matrix = np.asarray(vectors, dtype=np.float32)
        norms = np.linalg.norm(matrix, axis=1)
    if not (np.isfinite(norms).all() and (norms > 0).all()):
        raise InvalidVectorError
    return matrix
