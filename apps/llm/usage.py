"""Counts what embedding calls consume, for whoever asked for them; prices nothing."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(slots=True)
class EmbeddingUsage:
    """Requests and tokens, as the endpoint reported them (0 for the embedded model)."""

    requests: int = 0
    tokens: int = 0


_active: ContextVar[EmbeddingUsage | None] = ContextVar("embedding_usage", default=None)


@contextmanager
def embedding_usage() -> Iterator[EmbeddingUsage]:
    """Count the embedding calls made inside the block, in this thread or task."""
    usage = EmbeddingUsage()
    token = _active.set(usage)
    try:
        yield usage
    finally:
        _active.reset(token)


def add_embedding_usage(tokens: int) -> None:
    """Add one request with its tokens to the count that is open, if one is."""
    usage = _active.get()
    if usage is not None:
        usage.requests += 1
        usage.tokens += tokens
