"""Failing model endpoints as clients see them: 502 and 504 as JSON, an event within a stream."""

from __future__ import annotations

import pytest

from tests.fault_server import FaultServer
from tests.question_flow.chat_server import ChatServer, names, text_of
from tests.question_flow.conftest import HANDBOOK

DIMENSION = 64
QUESTION = "员工每年有多少天年假？"
SECRET = "sk-secret-of-the-vendor"
BROKEN = {"http": 500, "headers": {"Retry-After": "0"}, "body_text": f"<html>{SECRET}"}
SILENT = {"hang": 60}
REFUSED = {"http": 401, "body": {"error": {"code": "invalid_api_key", "message": SECRET}}}
FAULTS = [(BROKEN, 502, "MODEL_UPSTREAM_ERROR"), (SILENT, 504, "MODEL_TIMEOUT")]


@pytest.fixture(scope="module")
def endpoint():
    with FaultServer(dimension=DIMENSION) as server:
        yield server


@pytest.fixture(scope="module")
def served(endpoint, tmp_path_factory):
    """A server whose models have no price and whose endpoint a test may spoil."""
    with ChatServer(
        tmp_path_factory.mktemp("failing"),
        KBQA_DASHSCOPE_API_KEY="key-of-a-test",
        KBQA_DASHSCOPE_BASE_URL=endpoint.base_url,
        KBQA_CHAT_MODEL="unheard-of",
        KBQA_EMBEDDING_MODEL="unheard-of-vectors",
        KBQA_EMBEDDING_DIM=str(DIMENSION),
        KBQA_EMBEDDING_TIMEOUT_S="0.5",
    ) as server:
        server.upload("手册.md", HANDBOOK)
        yield server


@pytest.mark.parametrize(
    ("call", "status", "code"), [*FAULTS, (REFUSED, 502, "MODEL_KEY_REJECTED")]
)
def test_search_answers_with_the_status_of_the_requirements(served, endpoint, call, status, code):
    endpoint.play({"calls": [call]})
    response = served.client.get("/api/v1/search", params={"query": "年假"})
    assert (response.status_code, response.json()["error"]["code"]) == (status, code)
    assert SECRET not in response.text + "".join(served.log)


@pytest.mark.parametrize(("call", "_status", "code"), FAULTS)
def test_stream_that_has_begun_ends_in_an_error_event(served, endpoint, call, _status, code):
    endpoint.play({"calls": [call]})
    session = served.new_session()
    events = served.ask(session, QUESTION)
    name, data = events[-1]
    assert (name, data["code"], data["retryable"]) == ("error", code, True)
    answer = served.messages(session)[-1]
    assert (answer["status"], answer["error_code"]) == ("failed", code)
    assert SECRET not in str(events) + str(answer)


@pytest.mark.parametrize("unpaid", [402, 429])
def test_account_without_money_is_told_at_once(served, endpoint, unpaid):
    body = {"error": {"code": "insufficient_quota", "message": SECRET}}
    endpoint.play({"turns": [{"http": unpaid, "body": body}], "intent": None})
    before = len(endpoint.requests)
    name, data = served.ask(served.new_session(), QUESTION)[-1]
    chats = [r for r in endpoint.requests[before:] if "embeddings" not in r.path]
    assert (name, data["code"], data["retryable"]) == ("error", "MODEL_QUOTA_EXHAUSTED", False)
    assert [r.path for r in chats[1:]] == ["/v1/chat/completions"]  # the intent, and one more
    assert SECRET not in str(data)


def test_calls_without_a_price_are_flagged_everywhere(served, endpoint):
    endpoint.play({})
    session = served.new_session()
    events = served.ask(session, QUESTION)
    assert events[-1][1]["outcome"] == "answered", text_of(events)
    assert names(events)[-1] == "done"
    answer = served.messages(session)[-1]
    costs = served.client.get(f"/api/v1/sessions/{session}/costs").json()
    calls = costs["calls"]
    assert {(call["cost"], call["cost_source"]) for call in calls} == {(None, "unpriced")}
    assert {call["kind"] for call in calls} == {"chat", "embedding"}
    assert (answer["cost"], answer["cost_source"]) == (None, "unpriced")
    assert (costs["total_cost"], costs["unpriced_calls"]) == ("0.000000", len(calls))
    assert served.client.get(f"/api/v1/sessions/{session}").json()["unpriced_calls"] == len(calls)
    assert served.rows("SELECT cost_micro, cost_source FROM index_jobs") == [(None, "unpriced")]
