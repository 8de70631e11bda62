"""GET /health: the state and latency of each part; calls no model and tells no path or secret.

Needs no login, since load balancers ask it; our supervisor only waits for the first answer and
restarts nothing because of it. Answers 503 while questions cannot be answered: a part is down or
still loading, or the index belongs to another embedding model. An index with another size of
chunks is `outdated` too but answers, so the status is 200.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

from django.conf import settings
from django.db import DatabaseError, connection
from django.http import JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from apps.core.errors import AppError
from apps.core.processes.heartbeat import heartbeat_age_s
from apps.documents.indexing.index_definition import outdated, unsearchable
from apps.documents.vectors.access import vector_store
from apps.llm.factory import (
    chat_model_name,
    chat_provider,
    embedding_model_name,
    embedding_provider,
)
from kbqa_project import __version__

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest

type State = Literal["ok", "outdated", "unsearchable", "loading", "down"]

WORST_LAST: tuple[State, ...] = ("ok", "outdated", "unsearchable", "loading", "down")
UNAVAILABLE: frozenset[State] = frozenset({"unsearchable", "loading", "down"})
HEARTBEAT_LIMIT_S = 10.0


@dataclass(frozen=True, slots=True)
class Component:
    """One part: `latency_ms` is the time that its check took."""

    state: State
    latency_ms: float
    detail: str


@never_cache
@require_safe
def health(_request: HttpRequest) -> JsonResponse:
    """Answer the states as JSON, with status 503 while questions cannot be answered."""
    components = {name: _measure(check) for name, check in CHECKS.items()}
    status = max((part.state for part in components.values()), key=WORST_LAST.index)
    body = {
        "status": status,
        "components": {name: asdict(part) for name, part in components.items()},
        "models": {"chat": chat_model_name("organization"), "embedding": embedding_model_name()},
        "providers": {"chat": chat_provider("organization"), "embedding": embedding_provider()},
        "version": __version__,
    }
    return JsonResponse(body, status=503 if status in UNAVAILABLE else 200)


def _measure(check: Callable[[], tuple[State, str]]) -> Component:
    started = time.perf_counter()
    state, detail = check()
    return Component(state, round((time.perf_counter() - started) * 1000, 1), detail)


def _application() -> tuple[State, str]:
    return "ok", ""


def _database() -> tuple[State, str]:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT COUNT(*) FROM django_migrations")
    except DatabaseError as error:
        return "down", type(error).__name__
    return "ok", ""


def _vector_store() -> tuple[State, str]:
    try:
        if vector_store().health().state == "loading":
            return "loading", "the vectors are being loaded"
        mismatch = outdated()
    except (AppError, DatabaseError) as error:
        return "down", getattr(error, "code", type(error).__name__)
    if mismatch is not None:
        state: State = "outdated" if unsearchable() is None else "unsearchable"
        return state, f"{mismatch.code}: run manage.py reindex"
    return "ok", ""


def _worker() -> tuple[State, str]:
    age_s = heartbeat_age_s(settings.WORKER_HEARTBEAT)
    if age_s is None:
        return "down", "no worker has started"
    if age_s > HEARTBEAT_LIMIT_S:
        return "down", f"no sign of life for {age_s:.0f} s"
    return "ok", ""


CHECKS: dict[str, Callable[[], tuple[State, str]]] = {
    "application": _application,
    "database": _database,
    "vector_store": _vector_store,
    "worker": _worker,
}
