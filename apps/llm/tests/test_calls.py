"""Every request to an endpoint is reported: begun before it is sent, ended once with its usage."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from apps.core.errors import AppError
from apps.llm.calls import EMBEDDED_VENDOR, CallScope, CallTarget, OpenCall, call_scope
from apps.llm.pricing.usage import Usage
from apps.llm.tests.conftest import Calls
from apps.llm.tests.test_openai_chat import AT_ONCE, OK, ask, chunk, model, script, turn
from tests.fault_server import FaultServer

BASE = {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050}
INPUT = 8  # the estimate of the question that `ask` asks: 6 Chinese characters and the frame


async def calls_of(*turns: dict[str, Any], **limits: float) -> Calls:
    """Ask a server that plays the turns and return what was reported."""
    calls = Calls()
    with (
        FaultServer(script(*turns)) as server,
        call_scope(CallScope(calls, "organization", "main")),
    ):
        try:
            await ask(model(server, **limits))
        except AppError:
            assert calls.ended[-1].status == "failed"
    assert [call.begun for call in calls.ended] == calls.begun
    return calls


def answer(usage: dict[str, Any] | None, *more: dict[str, Any]) -> dict[str, Any]:
    last = {"choices": [], "usage": usage} if usage else {"choices": []}
    return turn(chunk({"content": "十五天"}), *more, chunk(reason="stop"), last)


async def test_call_is_reported_with_its_scope_and_target() -> None:
    calls = await calls_of(answer(BASE))
    (begun,), (ended,) = calls.begun, calls.ended
    assert (begun.target, begun.stage, begun.agent, begun.tool_call_id) == (
        CallTarget("chat", "127.0.0.1", "deepseek-chat"),
        "organization",
        "main",
        None,
    )
    assert begun.estimated_input_tokens == INPUT
    assert (ended.status, ended.provider_request_id) == ("completed", "c")
    assert ended.first_token_ms is not None
    assert 0 <= ended.first_token_ms <= ended.latency_ms


@pytest.mark.parametrize(
    ("raw", "usage"),
    [
        (BASE | {"prompt_cache_hit_tokens": 640, "prompt_cache_miss_tokens": 360}, (640, 0)),
        (
            BASE
            | {"prompt_tokens_details": {"cached_tokens": 0, "cache_creation_input_tokens": 600}},
            (0, 600),
        ),
        (BASE | {"cached_tokens": 128}, (128, 0)),
    ],
)
async def test_raw_usage_of_a_stream_is_kept(raw: dict[str, Any], usage: tuple[int, int]) -> None:
    (ended,) = (await calls_of(answer(raw))).ended
    assert ended.raw_usage == raw
    assert ended.usage == Usage(1000, 50, *usage)


async def test_usage_inside_a_choice_is_read() -> None:
    last = chunk(reason="stop")
    last["choices"][0]["usage"] = BASE
    (ended,) = (await calls_of(turn(chunk({"content": "好"}), last))).ended
    assert ended.usage == Usage(1000, 50)


async def test_last_of_cumulative_usages_counts() -> None:
    counts = [BASE | {"completion_tokens": n} for n in (1, 2, 3)]
    events = [chunk({"content": "a"}, usage=count) for count in counts]
    (ended,) = (await calls_of(turn(*events, chunk(reason="stop")))).ended
    assert ended.usage == Usage(1000, 3)


@pytest.mark.parametrize("usage", [None, {"prompt_tokens": None}, {"total_tokens": 9}])
async def test_missing_usage_is_estimated_and_marked(usage: dict[str, Any] | None) -> None:
    (ended,) = (await calls_of(answer(usage))).ended
    assert ended.usage == Usage(INPUT, 2, is_estimated=True)


async def test_arguments_of_tool_calls_count_as_output() -> None:
    call = {"index": 0, "id": "1", "function": {"name": "search", "arguments": '{"query": "年"}'}}
    events = [chunk({"tool_calls": [call]}), chunk(reason="tool_calls")]
    (ended,) = (await calls_of(turn(*events))).ended
    assert ended.usage == Usage(INPUT, 7, is_estimated=True)


async def test_each_retried_request_is_a_call_and_refused_ones_cost_nothing() -> None:
    bad = {"http": 500, "headers": AT_ONCE}
    calls = await calls_of(bad, bad, answer(BASE))
    assert [(call.status, call.usage) for call in calls.ended] == [
        ("failed", Usage()),
        ("failed", Usage()),
        ("completed", Usage(1000, 50)),
    ]


@pytest.mark.parametrize(
    ("events", "usage"),
    [
        ([], Usage(INPUT, 0, is_estimated=True)),
        ([chunk({"content": "员工"})], Usage(INPUT, 2, is_estimated=True)),
        (
            [chunk({"content": "员工手册"}, usage=BASE | {"completion_tokens": 1})],
            Usage(1000, 3, is_estimated=True),
        ),
        ([chunk({"content": "员工手册"}, usage=BASE)], Usage(1000, 50)),
    ],
)
async def test_call_that_times_out_is_charged_as_far_as_known(
    events: list[Any], usage: Usage
) -> None:
    limits = {"first_token_s": 0.5, "idle_s": 0.2}
    (ended,) = (await calls_of(turn(*events, end="hang"), **limits)).ended
    assert (ended.status, ended.usage) == ("failed", usage)


async def test_stream_that_ends_early_is_a_failed_call() -> None:
    (ended,) = (await calls_of(turn(chunk({"content": "员工"}), end="close"))).ended
    assert (ended.status, ended.usage) == ("failed", Usage(INPUT, 2, is_estimated=True))


async def test_cancelled_call_is_reported_with_what_was_heard() -> None:
    calls = Calls()
    heard = asyncio.Event()

    async def read(server: FaultServer) -> None:
        with call_scope(CallScope(calls, "organization")):
            async for _piece in model(server).astream("年假多少天？"):
                heard.set()

    with FaultServer(script(turn(chunk({"content": "员工"}), end="hang"))) as server:
        task = asyncio.create_task(read(server))
        await heard.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    (ended,) = calls.ended
    assert (ended.status, ended.usage) == ("cancelled", Usage(INPUT, 2, is_estimated=True))


async def test_call_that_cannot_be_kept_is_not_sent() -> None:
    class Full(Calls):
        def begin(self, call: Any) -> None:
            raise OSError

    with (
        FaultServer(script(OK)) as server,
        call_scope(CallScope(Full(), "intent")),
        pytest.raises(OSError, match=r"^$"),
    ):
        await ask(model(server))
    assert server.requests == []


async def test_call_that_is_cancelled_while_it_is_kept_was_not_sent() -> None:
    keeping, may_go_on = threading.Event(), threading.Event()

    class Slow(Calls):
        def begin(self, call: Any) -> None:
            self.begun.append(call)
            keeping.set()
            may_go_on.wait()

    calls = Slow()

    async def enter(server: FaultServer) -> None:
        with call_scope(CallScope(calls, "intent")):
            await ask(model(server))

    with FaultServer(script(OK)) as server:
        task = asyncio.create_task(enter(server))
        await asyncio.to_thread(keeping.wait)
        task.cancel()
        may_go_on.set()
        await asyncio.gather(task, return_exceptions=True)
    assert [(call.status, call.usage) for call in calls.ended] == [("cancelled", Usage())]
    assert server.requests == []


async def test_nothing_is_reported_outside_of_a_scope() -> None:
    with FaultServer(script(OK)) as server:
        assert (await ask(model(server))).text == "好"


def test_call_of_an_embedded_model_has_no_tokens() -> None:
    calls = Calls()
    target = CallTarget("chat", EMBEDDED_VENDOR, "extractive")
    with call_scope(CallScope(calls, "intent")), OpenCall(target, ["年假"]) as call:
        call.hear("好")
    (ended,) = calls.ended
    assert (ended.status, ended.usage) == ("completed", Usage())
