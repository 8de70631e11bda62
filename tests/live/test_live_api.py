"""The whole product on real models (003 §17.3): upload, ask, ask on, refuse, restart, delete.

The tests share a server and run in the order in which they stand: the last ones end it and empty
it. They judge structure and sources, never wording.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import httpx
import pytest
from django.utils.crypto import salted_hmac

from apps.documents.vectors.client import VectorClient
from tests.live.conftest import SECRET, LiveSite
from tests.question_flow.chat_server import names, text_of
from tests.server_process import wait_until

pytestmark = pytest.mark.live

ANSWERED = ["status(researching)", "sources", "status(answering)", "token", "done"]
REFUSED = ["status(researching)", "sources", "token", "done"]
QUESTION = "员工每年有多少天带薪年假？"


def ask(site: LiveSite, session: str, question: str) -> list[tuple[str, dict[str, Any]]]:
    """Ask and check what holds for each answer with sources."""
    events = site.server.ask(session, question)
    assert names(events) == ANSWERED, events[-1]
    found = dict(events)["sources"]["sources"]
    cited = set(re.findall(r"\[(S\d+)\]", text_of(events)))
    assert cited
    assert cited <= {source["label"] for source in found}
    assert {source["document_id"] for source in found} <= set(site.documents.values())
    return events


def filenames(events: list[tuple[str, dict[str, Any]]]) -> set[str]:
    return {source["filename"] for source in dict(events)["sources"]["sources"]}


def costs(site: LiveSite, session: str) -> dict[str, Any]:
    return dict(site.server.client.get(f"/api/v1/sessions/{session}/costs").json())


def stored(site: LiveSite) -> list[Any]:
    """What people see of documents, sessions, messages and sources."""
    client = site.server.client
    sessions = client.get("/api/v1/sessions").json()["items"]
    messages = [site.server.messages(session["id"]) for session in sessions]
    return [client.get("/api/v1/documents").json(), sessions, messages]


def test_uploaded_files_are_indexed_and_charged(site: LiveSite) -> None:
    documents = [site.document(name) for name in site.documents]
    assert {document["status"] for document in documents} == {"indexed"}
    assert min(document["chunk_count"] for document in documents) > 0
    jobs = site.server.rows("SELECT embedding_tokens, cost_micro FROM index_jobs")
    assert min(tokens for tokens, _cost in jobs) > 0
    assert {cost is None or cost > 0 for _tokens, cost in jobs} == {True}


@pytest.mark.parametrize(
    ("question", "filename"),
    [
        (QUESTION, "手册.md"),
        ("一线城市的差旅住宿标准是每晚多少元？", "差旅.txt"),
        ("When does the warehouse on Maple Road open on weekdays?", "guide.pdf"),
    ],
)
def test_question_is_answered_from_its_file(site: LiveSite, question: str, filename: str) -> None:
    session = site.server.new_session()
    events = ask(site, session, question)
    answer = site.server.messages(session)[-1]
    assert filename in filenames(events)
    assert events[-1] == ("done", {"message_id": answer["id"], "outcome": "answered"})
    assert (answer["status"], answer["content"]) == ("completed", text_of(events))
    assert answer["sources"] == dict(events)["sources"]["sources"]


def test_follow_up_is_answered_from_what_was_said_before(site: LiveSite) -> None:
    session = site.server.new_session()
    ask(site, session, QUESTION)
    events = ask(site, session, "那需要提前多久申请？")
    assert "手册.md" in filenames(events)
    roles = [message["role"] for message in site.server.messages(session)]
    assert roles == ["user", "assistant", "user", "assistant"]


def test_absent_fact_is_refused(site: LiveSite) -> None:
    events = site.server.ask(site.server.new_session(), "火星基地的指挥官是谁？")
    assert names(events) == REFUSED
    assert events[-1][1]["outcome"] == "insufficient_evidence"
    assert "[S" not in text_of(events)


def test_usage_is_reported_and_priced(site: LiveSite) -> None:
    session = site.server.new_session()
    ask(site, session, QUESTION)
    told = costs(site, session)
    chats = [call for call in told["calls"] if call["kind"] == "chat"]
    embeddings = [call for call in told["calls"] if call["kind"] == "embedding"]
    assert {call["status"] for call in told["calls"]} == {"completed"}
    assert min(call["input_tokens"] for call in told["calls"]) > 0
    assert min(call["output_tokens"] for call in chats) > 0
    assert embeddings
    assert "estimated" not in {call["cost_source"] for call in told["calls"]}
    priced = [Decimal(call["cost"]) for call in told["calls"] if call["cost"] is not None]
    assert Decimal(told["total_cost"]) == sum(priced)
    assert told["unpriced_calls"] == len(told["calls"]) - len(priced)


def test_leaving_reader_cancels_the_answer_and_frees_the_session(site: LiveSite) -> None:
    session = site.server.new_session()
    with httpx.Client(base_url=site.server.base_url, timeout=60) as leaving:
        body = {"session_id": session, "query": QUESTION}
        with leaving.stream("POST", "/api/v1/chat/stream", json=body) as response:
            next(line for line in response.iter_lines() if line.startswith("event: "))
    wait_until(lambda: site.server.messages(session)[-1]["status"] != "generating")
    answer = site.server.messages(session)[-1]
    assert (answer["status"], answer["error_code"]) == ("failed", "DISCONNECTED")
    assert "running" not in {call["status"] for call in costs(site, session)["calls"]}
    ask(site, session, QUESTION)


def test_everything_is_there_after_a_restart(site: LiveSite) -> None:
    before = stored(site)
    site.restart()
    assert stored(site) == before
    ask(site, site.server.new_session(), QUESTION)


def test_deleted_documents_and_sessions_leave_nothing(site: LiveSite) -> None:
    client = site.server.client
    sessions = client.get("/api/v1/sessions?limit=100").json()["items"]
    addresses = [f"/api/v1/sessions/{session['id']}" for session in sessions]
    addresses += [f"/api/v1/documents/{document}" for document in site.documents.values()]
    assert {client.delete(address).status_code for address in addresses} == {204}
    tables = ("documents", "chunks", "index_jobs", "message_sources")
    left = [site.server.rows(f"SELECT COUNT(*) FROM {table}")[0][0] for table in tables]
    written = site.server.rows("SELECT COUNT(*) FROM agent_chat_messages WHERE content != ''")
    assert (left, written) == ([0] * len(tables), [(0,)])
    assert list((site.data_dir / "raw").iterdir()) == []
    assert vectors_left(site) == {}


def vectors_left(site: LiveSite) -> dict[Any, int]:
    folder = site.data_dir
    key = salted_hmac("kbqa.vectors", str(folder), secret=SECRET, algorithm="sha256").digest()
    store = VectorClient(folder / "vectors.sock", key=key)
    try:
        return dict(store.counts_by_document())
    finally:
        store.close()
