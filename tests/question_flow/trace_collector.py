"""A LangSmith over real HTTP that keeps the runs it is sent, and two that answer nothing."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

INFO = {
    "version": "0",
    "batch_ingest_config": {
        "use_multipart_endpoint": False,  # so that runs arrive as plain JSON
        "size_limit": 100,
        "size_limit_bytes": 20_000_000,
        "scale_up_qsize_trigger": 1000,
        "scale_up_nthreads_limit": 1,
    },
}


class TraceCollector(ThreadingHTTPServer):
    """`runs` holds the runs by their id, with what later requests added; `sent` all bodies."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.runs = {}
        self.sent = ""
        self.url = f"http://127.0.0.1:{self.server_port}"
        self._lock = threading.Lock()

    def __enter__(self):
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *details):
        self.shutdown()
        super().__exit__(*details)

    def keep(self, body):
        with self._lock:
            self.sent += body
            content = json.loads(body)
            for run in [*content.get("post", ()), *content.get("patch", ())]:
                told = {key: value for key, value in run.items() if value is not None}
                self.runs.setdefault(run["id"], {}).update(told)

    def ended(self):
        """The runs that are over, of this moment."""
        with self._lock:
            return [run for run in self.runs.values() if "end_time" in run]


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self._answer(INFO)

    def do_POST(self):
        self.server.keep(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self._answer({})

    def log_message(self, *_args):
        pass

    def _answer(self, content):
        body = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def refusing_endpoint():
    """An address at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    yield f"http://127.0.0.1:{port}"


@contextmanager
def silent_endpoint():
    """An address that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
