"""Which vector store this installation uses, and waiting until it is ready."""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

from apps.documents.errors import VectorStoreLoadingError, VectorStoreUnavailableError
from apps.documents.vectors.client import VectorClient
from apps.documents.vectors.wire import auth_key, socket_path

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import SecretStr

    from apps.documents.vectors.store import VectorStore
    from kbqa_project.env import Environment

CLUSTER_TIMEOUT_S = 30.0
POLL_INTERVAL_S = 0.1


def vector_store() -> VectorStore:
    """Return the store of this installation: the owner's client, or a Milvus cluster."""
    env: Environment = settings.ENV
    if env.milvus_is_remote:
        return _cluster(str(env.milvus_uri), env.milvus_token, env.milvus_database or "")
    return _local(str(socket_path()), auth_key())


@cache
def _local(path: str, key: bytes) -> VectorStore:
    return VectorClient(Path(path), key=key)


@cache
def _cluster(uri: str, token: SecretStr | None, database: str) -> VectorStore:
    from apps.documents.vectors.milvus import MilvusStore  # noqa: PLC0415 - imports pymilvus

    return MilvusStore(uri, timeout_s=CLUSTER_TIMEOUT_S, token=token, database=database)


def ready_store(
    *, unavailable_s: float, should_stop: Callable[[], bool] = lambda: False
) -> VectorStore:
    """Return the store once it is ready: waits while it loads, `unavailable_s` while it is gone.

    Raises:
        VectorStoreUnavailableError: it stayed away that long.
        VectorStoreLoadingError: `should_stop` said so while it was loading.
    """
    deadline = time.monotonic() + unavailable_s
    while True:
        try:
            store = vector_store()
            if store.health().state == "ready":
                return store
            deadline = time.monotonic() + unavailable_s
        except VectorStoreUnavailableError:
            if time.monotonic() >= deadline:
                raise
        if should_stop():
            raise VectorStoreLoadingError
        time.sleep(POLL_INTERVAL_S)
