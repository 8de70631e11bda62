"""What the terminal is told, by what /health of a real HTTP server says."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from apps.core.processes.announcement import announce_when_healthy

PATIENCE_S = 10


@pytest.fixture
def serving():
    """Start a server whose /health tells the given states, the last one for ever."""
    servers = []

    def serve(*states):
        told = list(states)

        class Health(BaseHTTPRequestHandler):
            def do_GET(self):
                state = told.pop(0) if len(told) > 1 else told[0]
                self.send_response(200 if state in {"ok", "outdated"} else 503)
                self.end_headers()
                self.wfile.write(json.dumps({"status": state}).encode())

            def log_message(self, *_values):
                """Stay silent."""

        server = HTTPServer(("127.0.0.1", 0), Health)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("states", "lines"),
    [
        (["ok"], ["ready at {url}"]),
        (["outdated"], ["ready at {url}"]),
        (["down", "unsearchable"], ["ready at {url}"]),
        (
            ["loading", "loading", "ok"],
            ["serving {url}; the vectors are still loading", "ready at {url}"],
        ),
    ],
)
def test_terminal_is_told_once_the_pages_work(serving, states, lines):
    url = serving(*states)
    said, is_ready = [], threading.Event()

    def say(line):
        said.append(line)
        if line.startswith("ready"):
            is_ready.set()

    announce_when_healthy(url, threading.Event(), say)

    assert is_ready.wait(PATIENCE_S)
    assert said == [line.format(url=url) for line in lines]
