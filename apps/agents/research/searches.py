"""Searches of a run, each told as a tool call, and the first one, made beside the intent stage.

The first search takes the question as it was asked, with the last messages where it refers to
them, and brings passages that earlier answers cite in as candidates. The research takes it over; a
direct reply discards it.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING
from uuid import uuid4

from apps.agents.events import ToolCalled, ToolReturned
from apps.agents.messages import FIRST_CALL_PREFIX, SEARCH_TOOL
from apps.agents.model_calls import reported_calls
from apps.agents.prompts import prompt_config
from apps.core.errors import AppError
from apps.core.passages import Search

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from apps.agents.context import RunContext
    from apps.core.passages import Passage

logger = logging.getLogger(__name__)

DISCARD_WAIT_S = 2.0


async def searched(run: RunContext, query: str, *, call_id: str) -> Search:
    """Search once, tell of it, and keep the search in `run.searches`, in the order of the calls.

    Raises:
        AppError: the search failed.
    """
    place = len(run.searches)
    run.searches.append(Search(query, ()))
    with _told(run, call_id, query) as tell:
        search = Search(query, tuple(await _find(run, query, call_id=call_id)))
        tell(search)
    run.searches[place] = search
    return search


class EarlySearch:
    """One search in a task of its own, which ends with the run at the latest.

    Needs a running event loop.
    """

    def __init__(self, run: RunContext, query: str) -> None:
        self.call_id = f"{FIRST_CALL_PREFIX}{uuid4().hex}"
        self.query = query
        self._run = run
        self._is_settled = False
        self._task = asyncio.create_task(self._search())
        run.at_end.push_async_callback(self._end)

    async def take(self) -> Search:
        """Return what was found and tell of it, as the first search of the research.

        Raises:
            AppError: the search failed.
        """
        self._is_settled = True
        with _told(self._run, self.call_id, self.query) as tell:
            search = Search(self.query, tuple(await self._task))
            tell(search)
        return search

    async def discard(self) -> None:
        """Wait a moment, so that the cost is known, and forget what was found."""
        await asyncio.wait([self._task], timeout=DISCARD_WAIT_S)
        await self._end()

    async def _end(self) -> None:
        """End the search if it still runs; its failure is noted, unless somebody was told."""
        self._task.cancel()
        (result,) = await asyncio.gather(self._task, return_exceptions=True)
        if self._is_settled:
            return
        self._is_settled = True
        if isinstance(result, AppError):
            logger.info("a search that was not needed failed: %s", result.code)
        elif isinstance(result, Exception):
            logger.error("a search that was not needed failed", exc_info=result)

    async def _search(self) -> list[Passage]:
        kept = prompt_config().workflow.early_search.remembered_passages
        return await _find(self._run, self.query, call_id=self.call_id, remembered=kept)


async def _find(
    run: RunContext, query: str, *, call_id: str, remembered: int = 0
) -> list[Passage]:
    """Search once, see SearchPort; the query's embedding is reported as a call for `call_id`."""
    with reported_calls(run, "execution", tool_call_id=call_id):
        return await run.search(query, limit=run.limits.top_k, remembered=remembered)


@contextmanager
def _told(run: RunContext, call_id: str, query: str) -> Iterator[Callable[[Search], None]]:
    """Tell of a search's call, and of its result when the given function is called with it."""
    returned = partial(ToolReturned, call_id, SEARCH_TOOL)

    def tell(search: Search) -> None:
        best = max((passage.score for passage in search.passages), default=None)
        run.emit(returned(hit_count=len(search.passages), best_score=best))

    run.emit(ToolCalled(call_id, SEARCH_TOOL, {"query": query}))
    try:
        yield tell
    except AppError as error:
        run.emit(returned(error_code=error.code))
        raise
