"""The chat client against a real HTTP server: streams, retries, limits, errors, cancelling."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk, HumanMessage
from pydantic import SecretStr

from apps.core.errors import AppError
from apps.llm.endpoints.openai_compatible import OpenAICompatibleChat, TimeLimits
from apps.llm.errors import ModelUnavailableError, ModelUnreachableError
from apps.llm.tests.conftest import RETRIES
from kbqa_project.env import Endpoint
from tests.fault_server import FaultServer

pytestmark = pytest.mark.asyncio

KEY = "sk-secret-1234"
SECRET_BODY = "<html>sk-secret-1234 员工手册全文</html>"
AT_ONCE = {"Retry-After": "0"}


def model(server: FaultServer, name: str = "deepseek-chat", **limits: float) -> Any:
    endpoint = Endpoint(SecretStr(KEY), server.base_url, name)
    allowed = {"connect_s": 5.0, "first_token_s": 10.0, "idle_s": 10.0} | limits
    return OpenAICompatibleChat(endpoint=endpoint, limits=TimeLimits(**allowed), retries=RETRIES)


def chunk(
    delta: dict[str, Any] | None = None, reason: str | None = None, **more: Any
) -> dict[str, Any]:
    choices = [{"index": 0, "delta": delta or {}, "finish_reason": reason}]
    return {"id": "c", "model": "m", "choices": choices, **more}


def turn(*events: dict[str, Any] | str, end: str = "done") -> dict[str, Any]:
    return {"sse": list(events), "end": end}


def script(*turns: dict[str, Any]) -> dict[str, Any]:
    return {"turns": list(turns)}


OK = turn(chunk({"content": "好"}), chunk(reason="stop"))


async def ask(chat: Any) -> AIMessageChunk:
    pieces = [piece async for piece in chat.astream([HumanMessage("年假多少天？")])]
    total = pieces[0]
    for piece in pieces[1:]:
        total += piece
    return total


async def failure(chat: Any) -> AppError:
    with pytest.raises(AppError) as caught:
        await ask(chat)
    return caught.value


async def test_character_in_two_halves_is_joined_and_a_lone_half_dropped() -> None:
    texts = ["好\ud83d", "\ude00的", "\ude00天", "\ud83d"]
    events = [json.dumps(chunk({"content": text})) for text in texts]
    with FaultServer(script(turn(*events, chunk(reason="stop")))) as server:
        reply = await ask(model(server))
    assert reply.text == "好😀的天"


async def test_text_usage_and_finish_reason_arrive() -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}
    events = [chunk({"content": "十五"}), chunk({"content": "天"}), chunk(reason="stop")]
    with FaultServer(script(turn(*events, {"choices": [], "usage": usage}))) as server:
        reply = await ask(model(server))
    assert reply.text == "十五天"
    assert reply.response_metadata["finish_reason"] == "stop"
    assert reply.usage_metadata is not None
    assert reply.usage_metadata["input_tokens"] == 7
    assert reply.usage_metadata["output_tokens"] == 2
    body = server.requests[0].body
    assert (body["stream"], body["stream_options"]) == (True, {"include_usage": True})
    assert "enable_thinking" not in body
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


async def test_cumulative_usage_is_counted_once() -> None:
    counts = [{"prompt_tokens": 5, "completion_tokens": n, "total_tokens": 5 + n} for n in (1, 2)]
    events = [
        chunk({"content": "a"}, usage=counts[0]),
        chunk({"content": "b"}, "stop", usage=counts[1]),
    ]
    with FaultServer(script(turn(*events))) as server:
        reply = await ask(model(server))
    assert reply.usage_metadata is not None
    assert (reply.usage_metadata["input_tokens"], reply.usage_metadata["output_tokens"]) == (5, 2)


async def test_qwen_is_asked_not_to_think_and_json_is_passed_on() -> None:
    with FaultServer(script(OK)) as server:
        chat = model(server, "qwen3.5-flash").bind(response_format={"type": "json_object"})
        await chat.ainvoke([HumanMessage("x")])
    assert server.requests[0].body["enable_thinking"] is False
    assert server.requests[0].body["response_format"] == {"type": "json_object"}


async def test_tool_call_in_pieces_is_joined_and_gets_an_id() -> None:
    pieces = [
        {"index": 0, "id": "", "function": {"name": "search", "arguments": '{"que'}},
        {"index": 0, "function": {"arguments": 'ry": "年假"}'}},
        {"index": 1, "id": "", "function": {"name": "search", "arguments": ""}},
    ]
    events = [chunk({"tool_calls": [piece]}) for piece in pieces]
    with FaultServer(script(turn(*events, chunk(reason="tool_calls")))) as server:
        reply = await ask(model(server))
    assert [(call["name"], call["args"]) for call in reply.tool_calls] == [
        ("search", {"query": "年假"}),
        ("search", {}),
    ]
    ids = [call["id"] for call in reply.tool_calls]
    assert all(ids)
    assert len(set(ids)) == 2


@pytest.mark.parametrize("arguments", ['{"query": "年', '["年假"]', "年假"])
async def test_malformed_tool_call_is_named_and_dropped(arguments: str) -> None:
    call = {"index": 0, "id": "c1", "function": {"name": "search", "arguments": arguments}}
    events = [chunk({"tool_calls": [call]}), chunk(reason="tool_calls")]
    with FaultServer(script(turn(*events))) as server:
        reply = await ask(model(server))
    assert reply.tool_calls == reply.invalid_tool_calls == []
    assert reply.response_metadata["finish_reason"] == "malformed_tool_call"


@pytest.mark.parametrize("status", [429, 500, 502, 503])
async def test_passing_failure_is_retried_twice(status: int) -> None:
    bad = {"http": status, "headers": AT_ONCE, "body_text": SECRET_BODY}
    with FaultServer(script(bad, bad, OK)) as server:
        assert (await ask(model(server))).text == "好"
    assert len(server.requests) == 3


async def test_connection_that_breaks_before_the_first_chunk_is_retried() -> None:
    with FaultServer(script(turn(end="reset"), OK)) as server:
        assert (await ask(model(server))).text == "好"
    assert len(server.requests) == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 422])
async def test_refusal_is_not_retried(status: int) -> None:
    with FaultServer(script({"http": status, "body": {}}, OK)) as server:
        await failure(model(server))
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "body", "code", "calls"),
    [
        (400, {"error": {"code": "Arrearage", "message": KEY}}, "MODEL_QUOTA_EXHAUSTED", 1),
        (400, {"error": {"code": "data_inspection_failed"}}, "CONTENT_FILTERED", 1),
        (400, {"error": {"code": "context_length_exceeded"}}, "CONTEXT_TOO_LONG", 1),
        (400, {"error": {"message": "maximum context length is 9"}}, "CONTEXT_TOO_LONG", 1),
        (400, {"error": {"message": "Range of input length [1, 9]"}}, "CONTEXT_TOO_LONG", 1),
        (400, {"error": {"message": "exceeded model token limit"}}, "CONTEXT_TOO_LONG", 1),
        (400, {"error": {"message": "Prompt exceeds max length"}}, "CONTEXT_TOO_LONG", 1),
        (413, {"error": {"message": "x"}}, "CONTEXT_TOO_LONG", 1),
        (400, {"error": {"code": "InvalidParameter"}}, "MODEL_UPSTREAM_ERROR", 1),
        (401, {"error": {"code": "invalid_api_key", "message": KEY}}, "MODEL_KEY_REJECTED", 1),
        (402, {"error": {"message": "Insufficient Balance"}}, "MODEL_QUOTA_EXHAUSTED", 1),
        (403, {"error": {"code": "AllocationQuota.FreeTierOnly"}}, "MODEL_QUOTA_EXHAUSTED", 1),
        (403, {"error": {"code": "AccessDenied"}}, "MODEL_KEY_REJECTED", 1),
        (404, {"error": {"code": "model_not_found"}}, "MODEL_NOT_FOUND", 1),
        (429, {"error": {"code": "insufficient_quota"}}, "MODEL_QUOTA_EXHAUSTED", 1),
        (429, {"error": {"code": "Throttling.RateQuota"}}, "MODEL_RATE_LIMITED", 3),
        (500, {"error": {"message": "x"}}, "MODEL_UPSTREAM_ERROR", 3),
        (504, {"error": {"message": "x"}}, "MODEL_TIMEOUT", 3),
    ],
)
async def test_status_becomes_an_error_a_person_can_act_on(
    status: int, body: dict[str, Any], code: str, calls: int
) -> None:
    with FaultServer(script({"http": status, "body": body, "headers": AT_ONCE})) as server:
        error = await failure(model(server))
    assert (error.code, len(server.requests)) == (code, calls)


async def test_failure_shows_and_logs_neither_key_nor_body(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bad = {"http": 401, "body_text": SECRET_BODY}
    with caplog.at_level(logging.INFO, logger="apps"), FaultServer(script(bad)) as server:
        error = await failure(model(server))
    said = json.dumps([str(error), error.text, caplog.text], ensure_ascii=False)
    assert KEY not in said
    assert "员工手册" not in said
    assert (error.__cause__, error.__suppress_context__) == (None, True)


@pytest.mark.parametrize(
    ("events", "end", "code"),
    [
        ([chunk({"content": "员工"})], "close", "MODEL_UPSTREAM_ERROR"),
        ([chunk({"content": "员工"})], "reset", "MODEL_UPSTREAM_ERROR"),
        ([chunk({"content": "员"}), {"error": {"code": 529}}], "close", "MODEL_UPSTREAM_ERROR"),
        ([chunk({"content": "员"}), "{broken"], "close", "MODEL_UPSTREAM_ERROR"),
        ([chunk({"content": "员"}), '"text"'], "close", "MODEL_UPSTREAM_ERROR"),
        ([], "close", "EMPTY_ANSWER"),
        ([{"choices": []}], "done", "EMPTY_ANSWER"),
    ],
)
async def test_broken_stream_is_an_error_and_is_not_retried_after_its_start(
    events: list[Any], end: str, code: str
) -> None:
    with FaultServer(script(turn(*events, end=end))) as server:
        error = await failure(model(server))
    assert (error.code, len(server.requests)) == (code, 1)


async def test_nobody_listening_is_an_upstream_error_that_says_so() -> None:
    with FaultServer(script(OK)) as server:
        chat = model(server)
    error = await failure(chat)
    assert (type(error), error.code) == (ModelUnreachableError, "MODEL_UPSTREAM_ERROR")


async def test_connection_that_breaks_is_not_told_as_unreachable() -> None:
    broken = turn(end="reset")
    with FaultServer(script(*[broken] * 3)) as server:
        assert type(await failure(model(server))) is ModelUnavailableError


@pytest.mark.parametrize(
    ("events", "limits"),
    [
        ([], {"first_token_s": 1.0}),
        ([chunk({"role": "assistant", "content": ""})], {"first_token_s": 1.0, "idle_s": 0.1}),
        ([chunk({"content": "员工"})], {"idle_s": 0.1}),
    ],
)
async def test_silent_model_times_out_and_its_connection_is_closed(
    events: list[Any], limits: dict[str, float]
) -> None:
    with FaultServer(script(turn(*events, end="hang"))) as server:
        error = await failure(model(server, **limits))
        await asyncio.to_thread(server.wait_until_abandoned, server.requests[0])
    assert (error.code, error.http_status) == ("MODEL_TIMEOUT", 504)
    assert server.requests[0].is_abandoned
    assert len(server.requests) == 1


async def test_cancelled_call_closes_its_connection() -> None:
    with FaultServer(script(turn(chunk({"content": "员工"}), end="hang"))) as server:
        stream = model(server).astream([HumanMessage("x")])
        assert (await anext(stream)).text == "员工"
        await stream.aclose()
        await asyncio.to_thread(server.wait_until_abandoned, server.requests[0])
    assert server.requests[0].is_abandoned


async def test_each_event_loop_has_its_own_connections() -> None:
    with FaultServer(script(OK)) as server:
        chat = model(server)
        replies = [await asyncio.to_thread(asyncio.run, ask(chat)) for _ in range(3)]
    assert [reply.text for reply in replies] == ["好", "好", "好"]
