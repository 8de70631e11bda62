"""What a test does with a real server's conversations over HTTP."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, contextmanager
from dataclasses import dataclass, field

import httpx

from tests.server_process import ServerProcess, wait_until

DEADLINE_S = 60


@dataclass
class Stream:
    """An open answer: the frames as they come, comments included."""

    response: httpx.Response
    pings: int = 0
    seen: list[tuple[str, dict]] = field(default_factory=list)

    def __post_init__(self):
        self._events = self._read()

    def __iter__(self):
        return self._events

    def _read(self):
        name = ""
        for line in self.response.iter_lines():
            if line.startswith(":"):
                self.pings += 1
            elif line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                event = (name, json.loads(line.removeprefix("data: ")))
                self.seen.append(event)
                yield event

    def until(self, name):
        """Read up to the first event of that name and return its data."""
        for event, data in self:
            if event == name:
                return data
        raise AssertionError(f"no {name} in {self.seen}")


class ChatServer(ServerProcess):
    """A running server; `client` speaks to it."""

    def __enter__(self):
        super().__enter__()
        self.client = httpx.Client(base_url=self.base_url, timeout=DEADLINE_S)
        return self

    def __exit__(self, *details):
        self.client.close()
        super().__exit__(*details)

    def upload(self, name, text):
        """Upload a document and wait until it is indexed; returns its id."""
        files = {"file": (name, text.encode(), "text/markdown")}
        document = self.client.post("/api/v1/documents", files=files).json()
        wait_until(lambda: self._is_indexed(document["id"]))
        return document["id"]

    def _is_indexed(self, document_id):
        document = self.client.get(f"/api/v1/documents/{document_id}").json()
        assert document["status"] != "failed", document
        return document["status"] == "indexed"

    def new_session(self, **body):
        return self.client.post("/api/v1/sessions", json=body).json()["id"]

    @contextmanager
    def asking(self, session_id, query, **headers):
        """Post a question; yields the open stream."""
        body = {"session_id": session_id, "query": query}
        with self.client.stream(
            "POST", "/api/v1/chat/stream", json=body, headers=headers
        ) as response:
            assert response.status_code == 200, response.read()
            yield Stream(response)

    def ask(self, session_id, query):
        """Post a question and return all events of its stream."""
        with self.asking(session_id, query) as stream:
            return list(stream)

    def messages(self, session_id):
        return self.client.get(f"/api/v1/sessions/{session_id}/messages").json()["items"]

    def ended_answer(self, session_id):
        """Wait until the session's last message has ended and return it."""
        wait_until(lambda: self.messages(session_id)[-1]["status"] != "generating")
        return self.messages(session_id)[-1]

    def rows(self, query, *parameters):
        """Read the database file directly."""
        with closing(sqlite3.connect(self.data_dir / "kbqa.sqlite3")) as connection:
            return connection.execute(query, parameters).fetchall()


def names(events):
    """The names of the events, runs of tokens as one."""
    folded = []
    for name, data in events:
        entry = f"status({data['phase']})" if name == "status" else name
        if entry != "token" or folded[-1:] != ["token"]:
            folded.append(entry)
    return folded


def text_of(events):
    return "".join(data["content"] for name, data in events if name == "token")
