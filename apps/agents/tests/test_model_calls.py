"""A run's log learns of every request to a model, with the stage and the tool call it served."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from apps.agents.events import ToolCalled
from apps.agents.flow import answer_question
from apps.agents.tests.conftest import USER, fixed_search, passage
from apps.agents.tests.test_flow_faults import (
    ANSWER,
    QUESTION,
    call_turn,
    query,
    script,
    text_turn,
)
from apps.core.errors import AppError
from apps.llm.factory import embedding_model
from apps.llm.tests.conftest import Calls
from tests.fault_server import FaultServer

pytestmark = pytest.mark.asyncio

Use = Callable[..., None]
SEARCH = fixed_search(passage(0), passage(1))


async def calls_of(search: Any = SEARCH) -> Calls:
    calls = Calls()
    flow = answer_question(QUESTION, history=[], context=USER, search=search, calls=calls)
    try:
        async for _event in flow:
            pass
    except AppError:
        assert calls.ended
    return calls


def facts(calls: Calls) -> list[tuple[str, str, str, str]]:
    return [
        (call.begun.target.kind, call.begun.stage, call.begun.agent, call.status)
        for call in calls.ended
    ]


async def test_each_stage_reports_its_calls(use_endpoint: Use) -> None:
    with FaultServer() as server:
        use_endpoint(server)
        calls = await calls_of()
    assert facts(calls) == [
        ("chat", "intent", "intent_agent", "completed"),
        ("chat", "execution", "research_agent", "completed"),
        ("chat", "organization", "main_agent", "completed"),
    ]
    assert [call.begun for call in calls.ended] == calls.begun
    assert len(server.requests) == 3


async def test_embedded_models_report_calls_without_tokens() -> None:
    calls = await calls_of()
    assert {call.begun.stage for call in calls.ended} == {"intent", "execution", "organization"}
    assert {(c.begun.target.vendor, c.usage.input_tokens) for c in calls.ended} == {
        ("embedded", 0)
    }


async def test_query_embedding_names_the_tool_call_that_it_served(use_endpoint: Use) -> None:
    calls = Calls()

    async def search(text: str, *, limit: int, remembered: int = 0) -> list[Any]:
        await asyncio.to_thread(embedding_model().embed_query, text)
        return [passage(0)]

    with FaultServer(script(call_turn(query("年假")), ANSWER)) as server:
        use_endpoint(
            server,
            embedding_api_key="sk-x",
            embedding_base_url=server.base_url,
            embedding_dim=8,
        )
        flow = answer_question(QUESTION, history=[], context=USER, search=search, calls=calls)
        told = [event.call_id async for event in flow if isinstance(event, ToolCalled)]
    embeddings = [call for call in calls.ended if call.begun.target.kind == "embedding"]
    assert len(told) == len(embeddings) == 2
    assert [(c.begun.stage, c.begun.tool_call_id) for c in embeddings] == [
        ("execution", call_id) for call_id in told
    ]
    assert sum(c.begun.target.kind == "chat" for c in calls.ended) == len(calls.ended) - len(
        embeddings
    )


async def test_failed_call_is_reported_with_the_run_that_it_fails(use_endpoint: Use) -> None:
    cut = text_turn("十五", end="close")
    with FaultServer(script(call_turn(query("年假")), ANSWER, cut)) as server:
        use_endpoint(server)
        calls = await calls_of()
    assert facts(calls)[-1] == ("chat", "organization", "main_agent", "failed")


async def test_abandoned_run_reports_the_call_that_it_cuts_off(use_endpoint: Use) -> None:
    calls = Calls()
    hanging = text_turn("十五", end="hang")
    with FaultServer(script(call_turn(query("年假")), ANSWER, hanging)) as server:
        use_endpoint(server)
        flow = answer_question(QUESTION, history=[], context=USER, search=SEARCH, calls=calls)
        async for event in flow:
            if type(event).__name__ == "TokenProduced":
                break
        await flow.aclose()
    assert facts(calls)[-1] == ("chat", "organization", "main_agent", "cancelled")
    assert [call.begun for call in calls.ended] == calls.begun
