"""The research agent's only tool: one search among the asker's documents."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from langchain_core.tools import StructuredTool
from langgraph.prebuilt import ToolRuntime  # noqa: TC002 - read at run time

from apps.agents.events import ToolCalled, ToolReturned
from apps.agents.model_calls import reported_calls
from apps.agents.prompts import blueprints
from apps.agents.prompts.tool_parameters import parameters_model
from apps.agents.research.evidence import passage_block
from apps.agents.run_context import RunContext  # noqa: TC001 - read at run time
from apps.core.errors import AppError
from apps.core.passages import Passage  # noqa: TC001 - read at run time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from apps.agents.prompts import Language

NAME = "search_knowledge_base"


def search_tool(language: Language) -> StructuredTool:
    """Return the tool with its description in `language`; it runs within a RunContext."""
    blueprint = blueprints().tools.search_knowledge_base
    return StructuredTool.from_function(
        coroutine=_search,
        name=NAME,
        description=blueprint.description.render(language),
        args_schema=parameters_model(NAME, blueprint, language),
        response_format="content_and_artifact",
    )


async def find(run: RunContext, query: str, *, call_id: str, remembered: int = 0) -> list[Passage]:
    """Search once, see SearchPort; the query's embedding is reported as a call for `call_id`.

    Raises:
        AppError: the search failed.
    """
    with reported_calls(run, "execution", tool_call_id=call_id):
        return await run.search(query, limit=run.limits.top_k, remembered=remembered)


@contextmanager
def report_call(
    run: RunContext, call_id: str, query: str
) -> Iterator[Callable[[Sequence[Passage]], None]]:
    """Tell of a search's call, and of its result when the given function is called with it."""
    returned = partial(ToolReturned, call_id, NAME)

    def report(passages: Sequence[Passage]) -> None:
        best = max((passage.score for passage in passages), default=None)
        run.emit(returned(hit_count=len(passages), best_score=best))

    run.emit(ToolCalled(call_id, NAME, {"query": query}))
    try:
        yield report
    except AppError as error:
        run.emit(returned(error_code=error.code))
        raise


def search_content(passages: list[Passage], run: RunContext) -> str:
    """Return what a model reads of a search's result: the passages as data."""
    texts, language = blueprints().texts, run.user.language
    if not passages:
        return texts.search_nothing.render(language)
    return texts.search_result.render(
        language, count=len(passages), passages=passage_block(passages)
    )


async def _search(query: str, runtime: ToolRuntime[RunContext]) -> tuple[str, list[Passage]]:
    run, call_id = runtime.context, runtime.tool_call_id or ""
    with report_call(run, call_id, query) as report:
        passages = await find(run, query, call_id=call_id)
        report(passages)
    return search_content(passages, run), passages
