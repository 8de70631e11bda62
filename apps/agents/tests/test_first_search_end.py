"""The first search ends with its run, whenever that ends, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Callable
from typing import Any

import pytest

from apps.agents.events import RunEvent, StageFinished, StageStarted, TokenProduced, ToolCalled
from apps.agents.flow import answer_question
from apps.agents.tests.conftest import USER, run_flow
from apps.agents.tests.test_flow_faults import ANSWER, intent, script
from apps.core.errors import AppError
from tests.fault_server import FaultServer

pytestmark = pytest.mark.asyncio

SIMPLE = "年假有多少天？"
DIRECT = intent(route="DIRECT_EXECUTION", assistant_text="你好！")
Use = Callable[..., None]


class StoreUnavailableError(AppError):
    code = "VECTOR_STORE_UNAVAILABLE"


@pytest.fixture
async def complaints() -> list[str]:
    """What the event loop has to say of tasks that nobody looked after."""
    said: list[str] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _loop, context: said.append(str(context["message"])))
    return said


class HangingSearch:
    """A search that only a cancellation ends."""

    def __init__(self) -> None:
        self.is_running = False

    async def __call__(self, query: str, *, limit: int, remembered: int = 0) -> list[Any]:
        self.is_running = True
        try:
            await asyncio.Event().wait()
        finally:
            self.is_running = False
        return []


async def failing(query: str, *, limit: int, remembered: int = 0) -> list[Any]:
    raise StoreUnavailableError


def is_stage_finished(event: RunEvent) -> bool:
    return isinstance(event, StageFinished)


def is_execution(event: RunEvent) -> bool:
    return isinstance(event, StageStarted) and event.stage == "execution"


def is_token(event: RunEvent) -> bool:
    return isinstance(event, TokenProduced)


def is_call(event: RunEvent) -> bool:
    return isinstance(event, ToolCalled)


async def leave_at(question: str, search: Any, is_reached: Callable[[RunEvent], bool]) -> None:
    flow = answer_question(question, history=[], context=USER, search=search)
    async for event in flow:
        if is_reached(event):
            break
    await flow.aclose()


@pytest.mark.parametrize(
    ("question", "reply", "is_reached"),
    [
        ("你好", [DIRECT], is_token),  # while the search is being discarded
        (SIMPLE, None, is_stage_finished),  # before the next stage takes it
        (SIMPLE, None, is_execution),
        (SIMPLE, None, is_call),
    ],
)
async def test_search_ends_with_the_run_that_is_left(
    use_endpoint: Use,
    complaints: list[str],
    question: str,
    reply: list[dict[str, str]] | None,
    is_reached: Callable[[RunEvent], bool],
) -> None:
    search = HangingSearch()
    with FaultServer(script(ANSWER, **({"intent": reply} if reply else {}))) as server:
        use_endpoint(server)
        await leave_at(question, search, is_reached)
    assert (search.is_running, complaints) == (False, [])


async def test_failure_of_a_search_that_nobody_takes_is_no_lost_exception(
    use_endpoint: Use, complaints: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    with (
        caplog.at_level(logging.INFO, "apps.agents.research.searches"),
        FaultServer(script(ANSWER)) as server,
    ):
        use_endpoint(server)
        await leave_at(SIMPLE, failing, is_stage_finished)
    gc.collect()
    assert complaints == []
    assert [record.getMessage() for record in caplog.records] in (
        [],  # the next stage took it before the run was left
        ["a search that was not needed failed: VECTOR_STORE_UNAVAILABLE"],
    )


async def test_failing_intent_tells_its_own_error_beside_a_failed_search(
    use_endpoint: Use, complaints: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    with (
        caplog.at_level(logging.INFO, "apps.agents.research.searches"),
        FaultServer(script(ANSWER, intent=[{"text": "no"}])) as server,
    ):
        use_endpoint(server)
        run = await run_flow(SIMPLE, failing)
    assert run.error is not None
    assert run.error.code == "INVALID_MODEL_OUTPUT"
    del run
    gc.collect()
    assert complaints == []
    assert [record.getMessage() for record in caplog.records] == [
        "a search that was not needed failed: VECTOR_STORE_UNAVAILABLE"
    ]


async def test_defect_of_a_discarded_search_is_logged_and_fails_no_direct_reply(
    use_endpoint: Use, caplog: pytest.LogCaptureFixture
) -> None:
    async def defective(query: str, *, limit: int, remembered: int = 0) -> list[Any]:
        raise ZeroDivisionError

    with (
        caplog.at_level(logging.INFO, "apps.agents.research.searches"),
        FaultServer(script(ANSWER, intent=[DIRECT])) as server,
    ):
        use_endpoint(server)
        run = await run_flow("你好", defective)
    assert (run.error, run.text, run.finished.outcome) == (None, "你好！", "direct")
    (record,) = caplog.records
    assert (record.levelname, record.exc_info is not None) == ("ERROR", True)
