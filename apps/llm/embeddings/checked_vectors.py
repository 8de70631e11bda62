"""Checks the vectors that an endpoint answered with; guesses and repairs nothing (pure)."""

from __future__ import annotations

import base64
import binascii
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.llm.errors import (
    EmbeddingDimensionError,
    EmbeddingFailedError,
    ModelUnavailableError,
)

Vectors = NDArray[np.float64]


def checked_vectors(body: object, *, count: int, dimension: int) -> list[list[float]]:
    """Return the unit vectors of an embeddings answer in the order of the texts.

    Vectors may be lists of numbers or base64 of little-endian 32-bit floats.

    Raises:
        ModelUnavailableError: the body is an error or not of the protocol.
        EmbeddingFailedError: a vector is missing, zero, or has a NaN or an infinity.
        EmbeddingDimensionError: a vector has another dimension.
    """
    if not isinstance(body, dict) or not isinstance(body.get("data"), list):
        raise ModelUnavailableError
    rows = _in_order(body["data"], count)
    matrix = [_decoded(row) for row in rows]
    for vector in matrix:
        if vector.shape != (dimension,):
            raise EmbeddingDimensionError(actual=vector.size, expected=dimension)
    vectors: list[list[float]] = _unit(np.stack(matrix)).tolist()
    return vectors


def _in_order(data: list[Any], count: int) -> list[Any]:
    if len(data) != count or not all(isinstance(row, dict) for row in data):
        raise EmbeddingFailedError
    if all(isinstance(row.get("index"), int) for row in data):
        data = sorted(data, key=lambda row: row["index"])
        if [row["index"] for row in data] != list(range(count)):
            raise EmbeddingFailedError
    return [row.get("embedding") for row in data]


def _decoded(row: object) -> Vectors:
    try:
        if isinstance(row, str):
            floats = np.frombuffer(base64.b64decode(row, validate=True), dtype="<f4")
            return floats.astype(np.float64)
        return np.asarray(row, dtype=np.float64)
    except (ValueError, TypeError, binascii.Error):
        raise EmbeddingFailedError from None


def _unit(matrix: Vectors) -> Vectors:
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    if not np.isfinite(matrix).all() or not (lengths > 0).all():
        raise EmbeddingFailedError
    return np.divide(matrix, lengths)
