"""A real server in processes of its own, and what a test does with it over HTTP."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parent.parent.parent
DEADLINE_S = 60
READY = re.compile(r"ready at (http://\S+)")


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


class Served:
    """`manage.py serve` on a data folder of its own; `url` is where it listens."""

    def __init__(self, data_dir, **variables):
        self.data_dir = data_dir
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("KBQA_", "DJANGO_"))}
        self.environment = {
            **kept,
            "KBQA_ENV_FILE": "",
            "KBQA_DATA_DIR": str(data_dir),
            **{f"KBQA_{name.upper()}": str(value) for name, value in variables.items()},
        }
        self.lines = []
        self.url = ""

    def __enter__(self):
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "serve", "--port", "0"],
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        ready = threading.Event()
        self._reader = threading.Thread(target=self._read_output, args=(ready,), daemon=True)
        self._reader.start()
        if not ready.wait(DEADLINE_S):
            self.__exit__()
            raise AssertionError("the server did not start:\n" + "".join(self.lines))
        self.client = httpx.Client(base_url=self.url, timeout=DEADLINE_S)
        return self

    def __exit__(self, *_error):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(DEADLINE_S)

    def _read_output(self, ready):
        for line in self.process.stdout:
            self.lines.append(line)
            if found := READY.search(line):
                self.url = found.group(1)
                ready.set()

    def manage(self, *arguments):
        """Run another command of the same installation beside the server."""
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )

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

    def web_pid(self):
        listed = subprocess.run(
            ["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True
        )
        rows = [line.split(None, 2) for line in listed.stdout.splitlines()]
        (pid,) = [
            int(pid)
            for pid, parent, arguments in rows
            if int(parent) == self.process.pid and "manage.py web" in arguments
        ]
        return pid


def wait_until(condition):
    """Poll until `condition()` is true; fails at the deadline."""
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, "the condition never became true"
        time.sleep(0.05)


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
