"""Answers that are cut short: a leaving client, Stop, deletions, kills, a second question."""

from __future__ import annotations

import threading

from tests import fault_server
from tests.question_flow.chat_server import ChatServer, names, text_of
from tests.question_flow.conftest import HANDBOOK
from tests.question_flow.held_endpoint import HeldEndpoint
from tests.server_process import wait_until

QUESTION = "员工每年有多少天年假？"
ANSWERED = ["status(researching)", "sources", "status(answering)", "token", "done"]


def placeholders(server):
    return server.rows("SELECT run_id FROM agent_chat_messages WHERE status = 'generating'")


def test_held_answer_brings_heartbeats_and_then_comes_whole(held_server, endpoint):
    session = held_server.new_session()
    with held_server.asking(session, QUESTION) as stream:
        stream.until("token")
        threading.Timer(1.0, endpoint.release).start()
        pings_before = stream.pings
        events = [*stream.seen, *stream]
    assert names(events) == ANSWERED
    assert stream.pings > pings_before
    answer = held_server.messages(session)[-1]
    assert answer["content"] == text_of(events)


def calls_of(server, session):
    """The session's calls: status, source of the cost, cost in micro-yuan, all tokens."""
    return server.rows(
        "SELECT status, cost_source, cost, input_tokens + output_tokens FROM model_calls"
        " WHERE session_id = ? ORDER BY started_at",
        session.replace("-", ""),
    )


def totals_of(server, session):
    return server.rows(
        "SELECT total_cost, total_tokens, unpriced_calls FROM agent_chat_sessions WHERE id = ?",
        session.replace("-", ""),
    )


def test_answer_of_a_paid_model_is_charged(held_server, endpoint):
    endpoint.release()
    session = held_server.new_session()
    before = len(endpoint.requests)
    assert names(held_server.ask(session, QUESTION)) == ANSWERED
    answer = held_server.messages(session)[-1]
    calls = calls_of(held_server, session)
    assert [call[:2] for call in calls] == [("completed", "custom_pricing")] * len(calls)
    assert len(calls) == len(endpoint.requests) - before
    cost, tokens = sum(call[2] for call in calls), sum(call[3] for call in calls)
    assert totals_of(held_server, session) == [(cost, tokens, 0)]
    assert (answer["cost"], answer["input_tokens"] + answer["output_tokens"]) == (
        f"{cost / 1_000_000:.6f}",
        tokens,
    )


def test_leaving_client_ends_the_answer_and_the_call_to_the_model(held_server, endpoint):
    session = held_server.new_session()
    with held_server.asking(session, QUESTION) as stream:
        first = stream.until("token")["content"]
    answer = held_server.ended_answer(session)
    assert (answer["status"], answer["error_code"], answer["interrupted"]) == (
        "failed",
        "DISCONNECTED",
        True,
    )
    assert answer["content"].startswith(first)
    wait_until(lambda: endpoint.requests[-1].is_abandoned)
    assert held_server.client.get(f"/api/v1/sessions/{session}").json()["status"] == "failed"


def test_stop_ends_the_stream_with_its_reason_and_keeps_the_text(held_server):
    session = held_server.new_session()
    with held_server.asking(session, QUESTION) as stream:
        stream.until("token")
        stopped = held_server.client.post(f"/api/v1/sessions/{session}/stop").json()
        rest = list(stream)
    assert stopped == {"stopped": True}
    name, data = rest[-1]
    answer = held_server.messages(session)[-1]
    assert (name, data["code"], data["message_id"]) == ("error", "STOPPED", answer["id"])
    assert (answer["status"], answer["content"]) == ("failed", text_of(stream.seen))
    assert answer["content"] != ""


def test_stopped_session_takes_the_next_question(held_server, endpoint):
    session = held_server.new_session()
    with held_server.asking(session, QUESTION) as stream:
        stream.until("token")
        held_server.client.post(f"/api/v1/sessions/{session}/stop")
    endpoint.release()
    assert names(held_server.ask(session, QUESTION)) == ANSWERED


def test_second_question_during_an_answer_is_refused_and_the_first_goes_on(held_server, endpoint):
    session = held_server.new_session()
    with held_server.asking(session, QUESTION) as stream:
        stream.until("token")
        second = held_server.client.post(
            "/api/v1/chat/stream", json={"session_id": session, "query": "停车证？"}
        )
        endpoint.release()
        list(stream)
    assert (second.status_code, second.json()["error"]["code"]) == (409, "RUN_IN_PROGRESS")
    assert names(stream.seen) == ANSWERED
    assert [m["content"] for m in held_server.messages(session)] == [
        QUESTION,
        text_of(stream.seen),
    ]


def test_two_questions_at_once_are_answered_by_one_run(held_server, endpoint):
    session = held_server.new_session()
    refused = threading.Event()
    statuses = []

    def post():
        body = {"session_id": session, "query": QUESTION}
        response = held_server.client.post("/api/v1/chat/stream", json=body)
        statuses.append(response.status_code)
        if response.status_code != 200:
            refused.set()

    threads = [threading.Thread(target=post) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert refused.wait(30)
    endpoint.release()
    for thread in threads:
        thread.join()
    assert statuses == [409, 200]
    assert [m["role"] for m in held_server.messages(session)] == ["user", "assistant"]


def test_deleting_the_session_ends_its_answer_and_leaves_no_text(held_server):
    session = held_server.new_session()
    with held_server.asking(session, QUESTION) as stream:
        stream.until("token")
        deleted = held_server.client.delete(f"/api/v1/sessions/{session}")
        rest = list(stream)
    assert deleted.status_code == 204
    assert (rest[-1][0], rest[-1][1]["code"]) == ("error", "SESSION_DELETED")
    key = session.replace("-", "")
    assert placeholders(held_server) == []
    assert held_server.rows(
        "SELECT title, state_snapshot FROM agent_chat_sessions WHERE id = ?", key
    ) == [(None, "{}")]
    assert held_server.rows(
        "SELECT DISTINCT content, metadata FROM agent_chat_messages WHERE session_id = ?", key
    ) == [("", "{}")]
    assert held_server.client.get(f"/api/v1/sessions/{session}/messages").status_code == 404


def test_deleting_the_document_during_its_answer_drops_the_source_only(held_server, endpoint):
    document = held_server.upload("临时.md", HANDBOOK.replace("十五天", "十六天"))
    session = held_server.new_session()
    with held_server.asking(session, QUESTION) as stream:
        found = {source["document_id"] for source in stream.until("sources")["sources"]}
        stream.until("token")
        deleted = held_server.client.delete(f"/api/v1/documents/{document}")
        endpoint.release()
        rest = list(stream)
    assert document in found
    assert (deleted.status_code, rest[-1][0]) == (204, "done")
    answer = held_server.messages(session)[-1]
    assert answer["status"] == "completed"
    assert {source["document_id"] for source in answer["sources"]} == found - {document}


def test_page_that_reloads_resumes_the_answer(held_server, endpoint):
    session = held_server.new_session()
    path = f"/chat/{session}/stream"
    with held_server.asking(session, QUESTION) as stream:
        stream.until("token")
        ((run,),) = placeholders(held_server)
        endpoint.release()
        whole = held_server.client.get(path, params={"run": run})
        resumed = held_server.client.get(path, params={"run": run}, headers={"Last-Event-ID": "5"})
        assert list(stream)[-1][0] == "done"
    numbers = event_numbers(whole)
    assert event_numbers(resumed) == [number for number in numbers if number > 5]
    assert max(numbers) > 5
    assert whole.headers["Content-Type"] == "text/event-stream"


def event_numbers(response):
    lines = response.text.splitlines()
    return [int(line.removeprefix("id: ")) for line in lines if line.startswith("id: ")]


def test_page_stream_of_a_foreign_run_is_not_found(held_server):
    session = held_server.new_session()
    for run in ("", "x", "00000000-0000-4000-8000-000000000000"):
        response = held_server.client.get(f"/chat/{session}/stream", params={"run": run})
        assert response.status_code == 404


def test_page_that_does_not_come_back_ends_its_answer(held_server):
    session = held_server.new_session()
    ask_on_page(held_server, session)
    ((run,),) = placeholders(held_server)
    path = f"/chat/{session}/stream"
    with held_server.client.stream("GET", path, params={"run": run}) as page:
        lines = page.iter_lines()
        assert any(line == "event: token" for line in lines)
    answer = held_server.ended_answer(session)
    assert (answer["status"], answer["error_code"]) == ("failed", "DISCONNECTED")


def test_run_over_the_time_limit_fails(tmp_path):
    with HeldEndpoint() as endpoint:
        endpoint.hold()
        variables = {"KBQA_CHAT_API_KEY": "key", "KBQA_CHAT_BASE_URL": endpoint.base_url}
        with ChatServer(tmp_path, KBQA_RUN_TIMEOUT_S="1", **variables) as server:
            session = server.new_session()
            events = server.ask(session, QUESTION)
            answer = server.messages(session)[-1]
    name, data = events[-1]
    assert (name, data["code"], data["retryable"]) == ("error", "RUN_TIMEOUT", True)
    assert (answer["status"], answer["error_code"]) == ("failed", "RUN_TIMEOUT")


def test_killed_web_process_leaves_no_placeholder_and_keeps_the_text(tmp_path):
    with HeldEndpoint() as endpoint:
        variables = {"KBQA_CHAT_API_KEY": "key", "KBQA_CHAT_BASE_URL": endpoint.base_url}
        with ChatServer(tmp_path, **variables) as server:
            server.upload("手册.md", HANDBOOK)
            session = server.new_session()
            endpoint.hold()
            with server.asking(session, QUESTION) as stream:
                stream.until("token")
                wait_until(
                    lambda: server.rows(
                        "SELECT 1 FROM agent_chat_messages"
                        " WHERE status = 'generating' AND content != ''"
                    )
                )
                server.child("web").kill()
            wait_until(lambda: not placeholders(server))
            answer = server.ended_answer(session)
            calls, charged = calls_of(server, session), totals_of(server, session)
            sent = len(endpoint.requests)
            endpoint.release()
            again = server.ask(session, QUESTION)
    assert (answer["status"], answer["error_code"]) == ("failed", "INTERRUPTED")
    assert answer["content"] != ""
    assert names(again) == ANSWERED
    assert len(calls) == sent
    assert [call[0] for call in calls[:-1]] == ["completed"] * (sent - 1)
    assert calls[-1][:2] == ("failed", "estimated")
    assert charged == [(sum(call[2] for call in calls), sum(call[3] for call in calls), 0)]


def test_stopping_the_server_during_an_answer_leaves_no_placeholder(tmp_path):
    with HeldEndpoint() as endpoint:
        variables = {"KBQA_CHAT_API_KEY": "key", "KBQA_CHAT_BASE_URL": endpoint.base_url}
        with ChatServer(tmp_path, **variables) as server:
            server.upload("手册.md", HANDBOOK)
            session = server.new_session()
            endpoint.hold()
            ask_on_page(server, session)
            wait_until(lambda: server.messages(session)[-1]["content"] != "")
            server.stop()
    assert server.rows(
        "SELECT status, error_code, content != '' FROM agent_chat_messages"
        " WHERE role = 'assistant'"
    ) == [("failed", "INTERRUPTED", 1)]


def ask_on_page(server, session):
    token = server.client.get(f"/chat/{session}").cookies["csrftoken"]
    asked = server.client.post(
        f"/chat/{session}/ask", data={"question": QUESTION}, headers={"X-CSRFToken": token}
    )
    assert asked.status_code == 302


def test_stop_ends_the_request_that_embeds_the_question(tmp_path):
    with fault_server.FaultServer(dimension=16) as endpoint:
        variables = {"KBQA_EMBEDDING_API_KEY": "key", "KBQA_EMBEDDING_BASE_URL": endpoint.base_url}
        with ChatServer(tmp_path, KBQA_EMBEDDING_DIM="16", **variables) as server:
            server.upload("手册.md", HANDBOOK)
            session = server.new_session()
            indexed = len(endpoint.requests)
            endpoint.play({"dim": 16, "calls": [{"hang": 300}]})
            with server.asking(session, QUESTION) as stream:
                endpoint.wait_for_requests(indexed + 1)
                server.client.post(f"/api/v1/sessions/{session}/stop")
                events = list(stream)
            endpoint.wait_until_abandoned(endpoint.requests[-1])
    assert (events[-1][0], events[-1][1]["code"]) == ("error", "STOPPED")
    assert endpoint.requests[-1].is_abandoned
    assert len(endpoint.requests) == indexed + 1
