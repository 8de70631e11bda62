"""The first search of a run: it goes on while the intent stage thinks.

It searches the question as it was asked, with the last messages where it refers to them, and
brings passages that earlier answers cite in as candidates. The research takes it over as its first
search; a direct reply discards it.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self
from uuid import uuid4

from langchain_core.messages import AIMessage, ToolMessage

from apps.agents.prompts import blueprints
from apps.agents.research.search_tool import NAME, find, report_call, search_content
from apps.core.errors import AppError
from apps.llm.extractive.questions import standalone_query

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    from apps.agents.run_context import RunContext
    from apps.core.passages import Passage

logger = logging.getLogger(__name__)

CALL_PREFIX = "first_"
DISCARD_WAIT_S = 2.0


@dataclass(frozen=True, slots=True)
class FirstSearch:
    """What the first search found, best first."""

    call_id: str
    query: str
    passages: list[Passage]

    def messages(self, run: RunContext) -> list[BaseMessage]:
        """Return the search as an answered call of the research agent."""
        call = {"name": NAME, "args": {"query": self.query}, "id": self.call_id}
        return [
            AIMessage(content="", tool_calls=[call | {"type": "tool_call"}]),
            ToolMessage(
                search_content(self.passages, run),
                tool_call_id=self.call_id,
                name=NAME,
                artifact=self.passages,
            ),
        ]


class EarlySearch:
    """One search in a task of its own, which ends with the run at the latest."""

    def __init__(self, run: RunContext, query: str) -> None:
        self.call_id = f"{CALL_PREFIX}{uuid4().hex}"
        self.query = query
        self._run = run
        self._is_settled = False
        self._task = asyncio.create_task(self._search())
        run.at_end.push_async_callback(self._end)

    @classmethod
    def start(cls, run: RunContext) -> Self:
        """Begin to search; needs a running event loop."""
        said = [(turn.role == "user", turn.content) for turn in run.history]
        return cls(run, standalone_query(run.question, said))

    async def take(self) -> FirstSearch:
        """Return what was found and tell of it, as the first search of the research.

        Raises:
            AppError: the search failed.
        """
        self._is_settled = True
        with report_call(self._run, self.call_id, self.query) as report:
            passages = await self._task
            report(passages)
        return FirstSearch(self.call_id, self.query, passages)

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
        kept = blueprints().workflow.early_search.remembered_passages
        return await find(self._run, self.query, call_id=self.call_id, remembered=kept)


def is_first_search(message: AIMessage) -> bool:
    """Whether the message is the call of an early search, which no model made."""
    return any((call["id"] or "").startswith(CALL_PREFIX) for call in message.tool_calls)
