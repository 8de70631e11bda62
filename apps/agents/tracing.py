"""Traces of runs in LangSmith: how a run is named, and what a broken LangSmith may cost.

The SDK sends from threads of its own, which end with the process (`kbqa_project/env.py` asks for
that), so that neither an answer nor the exit of a process waits for a server that does not answer.
Its log lines hold parts of the key and of what was sent: one sentence a minute stands for them.
"""

from __future__ import annotations

import atexit
import logging
import time
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID

    from langchain_core.runnables import RunnableConfig

EXIT_WAIT_S = 1.0  # for what was not sent yet; the web process has 3.5 s to end
QUIET_S = 60.0

_run_id: ContextVar[UUID | None] = ContextVar("traced_run_id", default=None)


@contextmanager
def named_run(run_id: UUID) -> Iterator[None]:
    """Name the run that is started inside by its id."""
    token = _run_id.set(run_id)
    try:
        yield
    finally:
        _run_id.reset(token)


def run_config() -> RunnableConfig:
    """Return how the graph traces the run of this context; makes the exit wait for its end."""
    if settings.ENV.is_traced:
        _wait_at_exit()
    run_id = _run_id.get()
    return {} if run_id is None else {"run_name": str(run_id)}


@lru_cache(maxsize=1)
def _wait_at_exit() -> None:
    from langsmith.run_trees import get_cached_client  # noqa: PLC0415 - slow

    client = get_cached_client()  # the one that LangChain sends with
    atexit.register(client.flush, timeout=EXIT_WAIT_S)


class OneSentence(logging.Filter):
    """Lets one record of the SDK pass in `QUIET_S` seconds, without what it says."""

    def __init__(self) -> None:
        super().__init__()
        self._quiet_until = 0.0

    def filter(self, record: logging.LogRecord) -> bool:
        """Replace the text of a record, or drop it."""
        now = time.monotonic()
        if now < self._quiet_until:
            return False
        self._quiet_until = now + QUIET_S
        record.msg = "LangSmith is not reached or refuses: traces get lost, answers do not"
        record.args, record.exc_info, record.exc_text = (), None, None
        return True
