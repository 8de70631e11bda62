"""The costs of sessions and persons over the API: exact strings, days of the person's zone."""

from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.accounts.models import User
from apps.accounts.profiles import change_profile
from apps.chat.models import AgentChatSession
from apps.chat.sessions import delete_session
from apps.chat.tests.conftest import begin_call, end_call, finished_transcript, ledger_of
from apps.chat.turns.endings import finish_turn
from apps.chat.turns.start import start_turn
from apps.llm.pricing.charges import Usage

pytestmark = pytest.mark.django_db

BEFORE_MIDNIGHT = datetime(2026, 3, 31, 15, 59, 59, tzinfo=UTC)  # 23:59:59 in Shanghai
MIDNIGHT = datetime(2026, 3, 31, 16, 0, 0, tzinfo=UTC)


def answer(session, *calls):
    """Store an answer; each call is (started_at, model, stage, usage)."""
    turn = start_turn(session, "一")
    ledger = ledger_of(turn)
    for started_at, model, stage, usage in calls:
        call = begin_call(ledger, model, stage=stage, started_at=started_at)
        end_call(ledger, call, usage)
    finish_turn(turn, finished_transcript(ledger=ledger))


@pytest.fixture
def paid(session):
    answer(
        session,
        (BEFORE_MIDNIGHT, "qwen3.5-flash", "intent", Usage(1000, 100, 500)),
        (MIDNIGHT, "deepseek-chat", "organization", Usage(1000, 100)),
        (MIDNIGHT, "unheard-of", "organization", Usage(7, 3)),
    )
    return session


def costs(client, **query):
    response = client.get("/api/v1/costs", query)
    assert response.status_code == 200, response.content
    return response.json()


def test_session_costs_have_the_documented_form(client, paid):
    response = client.get(f"/api/v1/sessions/{paid.id}/costs")
    body = response.json()
    assert {name: value for name, value in body.items() if name != "calls"} == {
        "currency": "CNY",
        "total_cost": "0.002620",
        "total_tokens": 2210,
        "unpriced_calls": 1,
    }
    assert body["calls"][0] == {
        "stage": "intent",
        "agent": "main_agent",
        "kind": "chat",
        "model": "qwen3.5-flash",
        "status": "completed",
        "input_tokens": 1000,
        "cached_tokens": 500,
        "output_tokens": 100,
        "cost": "0.000320",
        "cost_source": "custom_pricing",
        "price_version": "2026-11-30",
        "latency_ms": 3,
        "first_token_ms": 1,
        "started_at": "2026-03-31T15:59:59Z",
    }
    assert sorted((call["model"], call["cost"]) for call in body["calls"][1:]) == [
        ("deepseek-chat", "0.002300"),
        ("unheard-of", None),
    ]


def test_session_without_calls_costs_nothing(client, session):
    assert client.get(f"/api/v1/sessions/{session.id}/costs").json() == {
        "currency": "CNY",
        "total_cost": "0.000000",
        "total_tokens": 0,
        "unpriced_calls": 0,
        "calls": [],
    }


def test_costs_of_another_persons_session_are_not_found(client):
    stranger = User.objects.create(username="stranger")
    foreign = AgentChatSession.objects.create(user=stranger)
    answer(foreign, (MIDNIGHT, "deepseek-chat", "intent", Usage(1000)))
    assert client.get(f"/api/v1/sessions/{foreign.id}/costs").status_code == 404
    assert costs(client)["items"] == []


def test_days_begin_at_midnight_of_the_zone(client, paid):
    assert costs(client) == {
        "currency": "CNY",
        "group_by": "day",
        "time_zone": "Asia/Shanghai",
        "from": None,
        "to": None,
        "total_cost": "0.002620",
        "total_tokens": 2210,
        "unpriced_calls": 1,
        "items": [
            {
                "key": "2026-03-31",
                "calls": 1,
                "input_tokens": 1000,
                "cached_tokens": 500,
                "output_tokens": 100,
                "cost": "0.000320",
                "unpriced_calls": 0,
            },
            {
                "key": "2026-04-01",
                "calls": 2,
                "input_tokens": 1007,
                "cached_tokens": 0,
                "output_tokens": 103,
                "cost": "0.002300",
                "unpriced_calls": 1,
            },
        ],
    }


def test_days_are_those_of_the_persons_zone(client, paid):
    change_profile(paid.user, timezone="America/New_York")
    body = costs(client)
    assert (body["time_zone"], [item["key"] for item in body["items"]]) == (
        "America/New_York",
        ["2026-03-31"],
    )


@pytest.mark.parametrize(
    ("query", "keys"),
    [
        ({"from": "2026-04-01"}, ["2026-04-01"]),
        ({"to": "2026-03-31"}, ["2026-03-31"]),
        ({"from": "2026-03-31", "to": "2026-04-01"}, ["2026-03-31", "2026-04-01"]),
        ({"from": "0001-01-01", "to": "9999-12-31"}, ["2026-03-31", "2026-04-01"]),
        ({"from": "2026-04-02"}, []),
    ],
)
def test_both_ends_of_the_period_are_included(client, paid, query, keys):
    body = costs(client, **query)
    assert [item["key"] for item in body["items"]] == keys
    assert (body["from"], body["to"]) == (query.get("from"), query.get("to"))


@pytest.mark.parametrize(
    ("group_by", "expected"),
    [
        (
            "model",
            [
                ("deepseek-chat", "0.002300", 0),
                ("qwen3.5-flash", "0.000320", 0),
                ("unheard-of", None, 1),
            ],
        ),
        ("stage", [("intent", "0.000320", 0), ("organization", "0.002300", 1)]),
    ],
)
def test_costs_are_grouped(client, paid, group_by, expected):
    items = costs(client, group_by=group_by)["items"]
    assert [(item["key"], item["cost"], item["unpriced_calls"]) for item in items] == expected


def test_deleted_session_still_counts(client, paid):
    delete_session(paid)
    body = costs(client, group_by="session")
    assert [(item["key"], item["cost"]) for item in body["items"]] == [(str(paid.id), "0.002620")]
    assert client.get(f"/api/v1/sessions/{paid.id}/costs").status_code == 404


def test_running_call_is_listed_with_its_estimate_and_not_summed(client, session):
    begin_call(ledger_of(start_turn(session, "一")))
    body = client.get(f"/api/v1/sessions/{session.id}/costs").json()
    assert (body["total_cost"], [(c["status"], c["cost"]) for c in body["calls"]]) == (
        "0.000000",
        [("running", "0.000002")],
    )
    assert costs(client)["items"] == []


@pytest.mark.parametrize(
    "query",
    [
        {"group_by": "user"},
        {"from": "yesterday"},
        {"from": "2026-02-30"},
        {"from": "2026-04-02", "to": "2026-04-01"},
    ],
)
def test_invalid_query_is_refused(client, query):
    response = client.get("/api/v1/costs", query)
    assert (response.status_code, response.json()["error"]["code"]) == (422, "VALIDATION_ERROR")


def queries_of(client, session):
    counts = []
    for path in (f"/api/v1/sessions/{session.id}/costs", "/api/v1/costs"):
        with CaptureQueriesContext(connection) as captured:
            client.get(path)
        counts.append(len(captured))
    return counts


def test_number_of_queries_does_not_grow_with_the_calls(client, session):
    answer(session, (MIDNIGHT, "deepseek-chat", "intent", Usage(1)))
    queries_of(client, session)  # the first request makes the local person
    at_one = queries_of(client, session)
    answer(session, *[(MIDNIGHT, "deepseek-chat", "intent", Usage(1))] * 2)
    assert queries_of(client, session) == at_one
