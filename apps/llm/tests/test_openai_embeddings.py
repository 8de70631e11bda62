"""The embeddings client against a real HTTP server: batches, checks, retries, usage."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import SecretStr

from apps.core.errors import AppError
from apps.llm.calls import CallScope, call_scope
from apps.llm.endpoints.embeddings import OpenAICompatibleEmbeddings
from apps.llm.errors import ModelUnreachableError
from apps.llm.pricing.usage import Usage
from apps.llm.tests.conftest import RETRIES, Calls
from kbqa_project.env import Endpoint
from tests.fault_server import FaultServer

TEXTS = [f"第{n}段" for n in range(23)]


def model(server: FaultServer, timeout_s: float = 10.0) -> OpenAICompatibleEmbeddings:
    endpoint = Endpoint(SecretStr("sk-secret"), server.base_url, "text-embedding-v4")
    return client_of(endpoint, timeout_s)


def client_of(endpoint: Endpoint, timeout_s: float = 10.0) -> OpenAICompatibleEmbeddings:
    return OpenAICompatibleEmbeddings(
        endpoint, 8, timeout_s=timeout_s, connect_timeout_s=5.0, retries=RETRIES
    )


def script(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"calls": list(calls)}


def test_texts_are_sent_in_tens_and_usage_is_counted() -> None:
    calls = Calls()
    with FaultServer() as server, call_scope(CallScope(calls, "indexing")):
        vectors = model(server).embed_documents(TEXTS)
    assert [len(request.body["input"]) for request in server.requests] == [10, 10, 3]
    assert server.requests[0].body["dimensions"] == 8
    assert [call.usage for call in calls.ended] == [
        Usage(sum(map(len, part))) for part in (TEXTS[:10], TEXTS[10:20], TEXTS[20:])
    ]
    assert len(vectors) == len(TEXTS)
    assert [round(sum(x * x for x in vector), 6) for vector in vectors] == [1.0] * len(TEXTS)


def test_order_of_the_answer_is_restored() -> None:
    data = [
        {"index": 1, "embedding": [0.0] * 7 + [2.0]},
        {"index": 0, "embedding": [3.0] + [0.0] * 7},
    ]
    with FaultServer(script({"http": 200, "body": {"data": data}})) as server:
        vectors = model(server).embed_documents(["a", "b"])
    assert vectors == [[1.0] + [0.0] * 7, [0.0] * 7 + [1.0]]


def test_base64_and_float_answers_are_the_same() -> None:
    with FaultServer() as floats, FaultServer(script({"encoding": "base64"})) as encoded:
        pairs = [model(server).embed_query("年假") for server in (floats, encoded)]
    assert pairs[0] == pytest.approx(pairs[1], abs=1e-6)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ({"dim": 7}, "EMBEDDING_DIMENSION_MISMATCH"),
        ({"values": "nan"}, "EMBEDDING_INVALID"),
        ({"values": "zero"}, "EMBEDDING_INVALID"),
        ({"drop_last": 3}, "EMBEDDING_INVALID"),
        ({"http": 200, "body": {"code": "Throttling"}}, "MODEL_UPSTREAM_ERROR"),
        ({"http": 200, "body": {"data": None}}, "MODEL_UPSTREAM_ERROR"),
        ({"http": 200, "body_text": "<html>"}, "MODEL_UPSTREAM_ERROR"),
        ({"http": 200, "body": {"data": [{"embedding": "?"}] * 10}}, "EMBEDDING_INVALID"),
        ({"http": 200, "body": {"data": [{"embedding": ["x"]}] * 10}}, "EMBEDDING_INVALID"),
        ({"http": 200, "body": {"data": [{"index": 0}] * 10}}, "EMBEDDING_INVALID"),
        ({"http": 401, "body": {}}, "MODEL_KEY_REJECTED"),
    ],
)
def test_unusable_answer_is_refused(call: dict[str, Any], code: str) -> None:
    with FaultServer(script(call)) as server, pytest.raises(AppError) as caught:
        model(server).embed_documents(TEXTS)
    assert (caught.value.code, len(server.requests)) == (code, 1)


def test_busy_endpoint_is_retried_twice() -> None:
    busy = {"http": 429, "headers": {"Retry-After": "0"}}
    with FaultServer(script(busy, busy, {"ok": True})) as server:
        assert len(model(server).embed_documents(["a"])) == 1
    assert len(server.requests) == 3


def test_silent_endpoint_times_out() -> None:
    with FaultServer(script({"hang": 60})) as server, pytest.raises(AppError) as caught:
        model(server, timeout_s=0.1).embed_query("a")
    assert caught.value.code == "MODEL_TIMEOUT"


@pytest.mark.parametrize("host", ["127.0.0.1:9", "does-not-exist.invalid"])
def test_unreachable_endpoint_is_told_from_a_failing_one(host: str) -> None:
    endpoint = Endpoint(SecretStr("sk-secret"), f"http://{host}/v1", "text-embedding-v4")
    unreachable = client_of(endpoint)

    with pytest.raises(ModelUnreachableError) as failed:
        unreachable.embed_query("年假")

    assert failed.value.code == "MODEL_UPSTREAM_ERROR"
    assert host not in failed.value.text
    assert "KBQA_EMBEDDING_BASE_URL" in failed.value.text


async def test_query_in_a_loop_is_that_of_a_thread() -> None:
    busy = {"http": 503, "headers": {"Retry-After": "0"}}
    calls = Calls()
    with FaultServer(script(busy, busy, {"ok": True})) as server:
        embeddings = model(server)
        with call_scope(CallScope(calls, "execution")):
            vector = await embeddings.aembed_query("年假")
        assert vector == await asyncio.to_thread(embeddings.embed_query, "年假")
    assert [call.status for call in calls.ended] == ["failed", "failed", "completed"]


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ({"dim": 7}, "EMBEDDING_DIMENSION_MISMATCH"),
        ({"http": 200, "body_text": "<html>"}, "MODEL_UPSTREAM_ERROR"),
        ({"http": 401, "body": {}}, "MODEL_KEY_REJECTED"),
    ],
)
async def test_unusable_answer_to_a_query_in_a_loop_is_refused(
    call: dict[str, Any], code: str
) -> None:
    with FaultServer(script(call)) as server, pytest.raises(AppError) as caught:
        await model(server).aembed_query("年假")
    assert (caught.value.code, len(server.requests)) == (code, 1)


async def test_cancelled_query_closes_its_connection() -> None:
    calls = Calls()
    with FaultServer(script({"hang": 60})) as server:
        with call_scope(CallScope(calls, "execution")):
            query = asyncio.create_task(model(server, timeout_s=60.0).aembed_query("年假"))
        await asyncio.to_thread(server.wait_for_requests, 1)
        query.cancel()
        await asyncio.wait([query])
        await asyncio.to_thread(server.wait_until_abandoned, server.requests[0])
        assert server.requests[0].is_abandoned
    assert query.cancelled()
    assert [call.status for call in calls.ended] == ["cancelled"]
