"""The sessions API: forms, refusals, isolation."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.chat.errors import RunStoppedError
from apps.chat.models import AgentChatMessage, AgentChatSession
from apps.chat.sessions import create_session
from apps.chat.tests.conftest import finished_transcript, make_document, sources_of
from apps.chat.turns.endings import fail_turn, finish_turn
from apps.chat.turns.start import start_turn
from apps.documents.models import Document, DocumentStatus

pytestmark = pytest.mark.django_db

SESSIONS = "/api/v1/sessions"
STREAM = "/api/v1/chat/stream"


def post(client, path, body, **headers):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return client.post(path, data, content_type="application/json", headers=headers)


def code_of(response):
    return response.json()["error"]["code"]


@pytest.fixture
def foreign_session(django_user_model):
    return create_session(django_user_model.objects.create(username="stranger"), title="fremd")


def test_new_session_is_created_with_its_title(client):
    response = post(client, SESSIONS, {"title": "假期"})
    assert response.status_code == 201
    stored = AgentChatSession.objects.get()
    assert response.json() == {
        "id": str(stored.id),
        "title": "假期",
        "status": "pending",
        "message_count": 0,
        "total_tokens": 0,
        "total_cost": "0.000000",
        "unpriced_calls": 0,
        "currency": "CNY",
        "created_at": iso(stored.created_at),
        "updated_at": iso(stored.updated_at),
        "last_activity_at": iso(stored.last_activity_at),
    }


def iso(moment):
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@pytest.mark.parametrize("body", [b"", b"{}"])
def test_new_session_needs_no_title(client, body):
    response = post(client, SESSIONS, body)
    assert (response.status_code, response.json()["title"]) == (201, None)


def test_conversation_can_be_carried_over(client):
    messages = [
        {"role": "user", "content": "年假多少天？"},
        {"role": "assistant", "content": "十五天。[S1]"},
    ]
    session = post(client, SESSIONS, {"messages": messages}).json()
    listed = client.get(f"{SESSIONS}/{session['id']}/messages").json()
    assert [(m["role"], m["content"], m["sources"]) for m in listed["items"]] == [
        ("user", "年假多少天？", []),
        ("assistant", "十五天。[S1]", []),
    ]
    assert (listed["count"], session["message_count"], session["title"]) == (2, 2, "年假多少天？")


@pytest.mark.parametrize(
    "body",
    [
        {"messages": [{"role": "system", "content": "x"}]},
        {"messages": [{"role": "tool", "content": "x"}]},
        {"messages": [{"role": "user", "content": ""}]},
        {"messages": [{"role": "user"}]},
        {"messages": [{"role": "user", "content": "x"}] * 51},
        {"messages": "x"},
        {"title": "字" * 256},
        {"title": 5},
        None,
        7,
        [1, 2],
    ],
)
def test_invalid_session_is_refused_and_nothing_stored(client, body):
    response = post(client, SESSIONS, body)
    assert (response.status_code, code_of(response)) == (422, "VALIDATION_ERROR")
    assert AgentChatSession.objects.count() == 0


@pytest.mark.parametrize("path", [SESSIONS, STREAM])
@pytest.mark.parametrize("body", [b'{"query": "hi', b"\xff\xfe", b"{'a': 1}", b"nul"])
def test_body_that_is_no_json_is_a_bad_request(client, path, body):
    response = post(client, path, body)
    assert (response.status_code, code_of(response)) == (400, "BAD_REQUEST")


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        "x",
        {},
        {"query": ["a", 1], "session_id": {"x": 1}},
        {"query": "a", "session_id": "no-uuid"},
        {"query": "a", "session_id": 7},
        {"query": None, "session_id": str(uuid.uuid4())},
        {"session_id": str(uuid.uuid4())},
    ],
)
def test_question_of_wrong_types_is_refused(client, body):
    response = post(client, STREAM, body)
    assert (response.status_code, code_of(response)) == (422, "VALIDATION_ERROR")


def test_question_to_an_unknown_session_is_not_found(client):
    response = post(client, STREAM, {"session_id": str(uuid.uuid4()), "query": "年假？"})
    assert (response.status_code, code_of(response)) == (404, "NOT_FOUND")


@pytest.mark.parametrize("query", ["", "  \n", "\u200b", "\u0000"])
def test_empty_question_is_refused_and_nothing_stored(client, session, query):
    response = post(client, STREAM, {"session_id": str(session.id), "query": query})
    assert (response.status_code, code_of(response)) == (422, "EMPTY_QUESTION")
    assert session.messages.count() == 0


@pytest.mark.parametrize("length", [4001, 60_000])
def test_overlong_question_is_refused_and_nothing_stored(client, session, length):
    response = post(client, STREAM, {"session_id": str(session.id), "query": "问" * length})
    assert (response.status_code, code_of(response)) == (422, "QUESTION_TOO_LONG")
    assert session.messages.count() == 0


def test_huge_body_is_refused_without_harm(client, session):
    body = json.dumps({"session_id": str(session.id), "query": "a" * 10_000_000}).encode()
    response = post(client, STREAM, body)
    assert (response.status_code, code_of(response)) == (413, "REQUEST_TOO_LARGE")
    assert session.messages.count() == 0
    assert client.get(SESSIONS).status_code == 200


def test_second_question_during_an_answer_is_a_conflict(client, session):
    start_turn(session, "一")
    response = post(client, STREAM, {"session_id": str(session.id), "query": "二"})
    assert (response.status_code, code_of(response)) == (409, "RUN_IN_PROGRESS")


def test_sessions_are_listed_by_last_activity_in_pages(client, user):
    made = [create_session(user, title=str(number)) for number in range(3)]
    start_turn(made[0], "x")
    first = client.get(f"{SESSIONS}?limit=2").json()
    rest = client.get(f"{SESSIONS}?limit=2&offset=2").json()
    assert ([s["title"] for s in first["items"]], first["count"]) == (["0", "2"], 3)
    assert ([s["title"] for s in rest["items"]], rest["count"]) == (["1"], 3)


def test_sessions_can_be_searched(client, user):
    create_session(user, title="年假政策")
    create_session(user, title="停车")
    found = client.get(f"{SESSIONS}?q=年假").json()
    assert [s["title"] for s in found["items"]] == ["年假政策"]


@pytest.mark.parametrize("query", ["limit=0", "limit=201", "offset=-1", "limit=x"])
def test_impossible_pages_are_refused(client, query):
    assert client.get(f"{SESSIONS}?{query}").status_code == 422


def test_session_can_be_renamed(client, session):
    response = client.patch(
        f"{SESSIONS}/{session.id}", {"title": "<b>新名</b>"}, content_type="application/json"
    )
    assert (response.status_code, response.json()["title"]) == (200, "<b>新名</b>")


def test_renaming_to_nothing_is_refused(client, session):
    response = client.patch(
        f"{SESSIONS}/{session.id}", {"title": " "}, content_type="application/json"
    )
    assert (response.status_code, code_of(response)) == (422, "VALIDATION_ERROR")


def test_deleted_session_is_gone(client, session):
    assert client.delete(f"{SESSIONS}/{session.id}").status_code == 204
    assert client.get(f"{SESSIONS}/{session.id}").status_code == 404
    assert client.get(f"{SESSIONS}/{session.id}/messages").status_code == 404
    assert client.delete(f"{SESSIONS}/{session.id}").status_code == 404
    assert client.get(SESSIONS).json() == {"items": [], "count": 0}


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("get", ""),
        ("patch", ""),
        ("delete", ""),
        ("get", "/messages"),
        ("post", "/stop"),
    ],
)
def test_foreign_session_looks_like_an_unknown_one(client, foreign_session, method, path):
    call = getattr(client, method)
    answers = [
        call(f"{SESSIONS}/{session_id}{path}", {"title": "x"}, content_type="application/json")
        if method == "patch"
        else call(f"{SESSIONS}/{session_id}{path}")
        for session_id in (foreign_session.id, uuid.uuid4())
    ]
    assert [(a.status_code, code_of(a)) for a in answers] == [(404, "NOT_FOUND")] * 2
    foreign_session.refresh_from_db()
    assert (foreign_session.title, foreign_session.deleted_at) == ("fremd", None)


def test_question_to_a_foreign_session_is_not_found(client, foreign_session):
    response = post(client, STREAM, {"session_id": str(foreign_session.id), "query": "年假？"})
    assert (response.status_code, code_of(response)) == (404, "NOT_FOUND")
    assert foreign_session.messages.count() == 0


def test_foreign_sessions_are_not_listed(client, foreign_session):
    assert client.get(SESSIONS).json()["count"] == 0


def test_messages_show_valid_sources(client, session, user, document):
    other = make_document(user, "b.md", ["别的"])
    found = (sources_of(document)[0], replace(sources_of(other)[0], label="S2"))
    turn = start_turn(session, "年假多少天？")
    finish_turn(turn, finished_transcript("十五天。[S1][S2]", found))
    Document.objects.filter(id=other.id).update(status=DocumentStatus.DELETING)
    question, answer = client.get(f"{SESSIONS}/{session.id}/messages").json()["items"]
    assert (question["role"], question["order_index"], question["sources"]) == ("user", 1, [])
    chunk = document.chunks.get(order_index=0)
    assert answer["sources"] == [
        {
            "label": "S1",
            "document_id": str(document.id),
            "chunk_id": str(chunk.id),
            "filename": "手册.md",
            "order_index": 0,
            "page_number": None,
            "start_char": 0,
            "end_char": 6,
            "content": "年假十五天。",
            "score": 0.9,
        }
    ]
    assert (answer["outcome"], answer["content"]) == ("answered", "十五天。[S1][S2]")


def test_failed_answer_tells_code_and_partial_text(client, session):
    transcript = finished_transcript("半句")
    fail_turn(start_turn(session, "一"), RunStoppedError(), transcript)
    answer = client.get(f"{SESSIONS}/{session.id}/messages").json()["items"][1]
    assert (answer["status"], answer["error_code"], answer["content"], answer["interrupted"]) == (
        "failed",
        "STOPPED",
        "半句",
        True,
    )


def test_tool_messages_are_shown_on_demand_and_audit_rows_never(client, session):
    session.messages.create(seq=-1, role="system", content="audit")
    session.messages.create(seq=1, role="user", content="q")
    session.messages.create(seq=2, role="tool", tool_name="search_knowledge_base")
    path = f"{SESSIONS}/{session.id}/messages"
    assert [m["role"] for m in client.get(path).json()["items"]] == ["user"]
    assert [m["role"] for m in client.get(f"{path}?include=tool").json()["items"]] == [
        "user",
        "tool",
    ]


def test_messages_need_the_same_queries_for_many_as_for_one(client, session, document):
    path = f"{SESSIONS}/{session.id}/messages"
    counts = []
    for _round in range(2):
        finish_turn(start_turn(session, "一"), finished_transcript(sources=sources_of(document)))
        client.get(path)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            client.get(path)
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_stop_without_an_answer_in_progress_stops_nothing(client, session):
    response = client.post(f"{SESSIONS}/{session.id}/stop")
    assert (response.status_code, response.json()) == (200, {"stopped": False})


def test_stop_of_an_answer_that_no_process_has_ends_it(client, session):
    turn = start_turn(session, "一")
    assert client.post(f"{SESSIONS}/{session.id}/stop").json() == {"stopped": True}
    answer = AgentChatMessage.objects.get(id=turn.message_id)
    assert (answer.status, answer.error_code) == ("failed", "STOPPED")


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "null"},
    ],
)
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("post", SESSIONS),
        ("post", STREAM),
        ("post", "{session}/stop"),
        ("patch", "{session}"),
        ("delete", "{session}"),
    ],
)
def test_state_change_from_another_site_is_forbidden(client, session, headers, method, path):
    target = path.format(session=f"{SESSIONS}/{session.id}")
    response = getattr(client, method)(
        target, b"{}", content_type="application/json", headers=headers
    )
    assert (response.status_code, code_of(response)) == (403, "FOREIGN_ORIGIN")
    session.refresh_from_db()
    assert session.deleted_at is None


def test_markup_in_a_question_is_kept_as_text(client, session):
    start_turn(session, "<script>alert(1)</script>{{ 7*7 }}")
    listed = client.get(f"{SESSIONS}/{session.id}/messages")
    assert listed.headers["Content-Type"].startswith("application/json")
    assert listed.json()["items"][0]["content"] == "<script>alert(1)</script>{{ 7*7 }}"


def test_openapi_describes_the_sessions(client):
    paths = client.get("/api/v1/openapi.json").json()["paths"]
    assert {
        "/api/v1/sessions",
        "/api/v1/sessions/{session_id}",
        "/api/v1/sessions/{session_id}/messages",
        "/api/v1/sessions/{session_id}/stop",
        "/api/v1/chat/stream",
    } <= set(paths)
    assert (
        "text/event-stream" in paths["/api/v1/chat/stream"]["post"]["responses"]["200"]["content"]
    )
