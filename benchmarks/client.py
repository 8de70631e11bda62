"""What the benchmarks do with a server over its JSON API, with times in milliseconds."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any
from urllib.parse import quote, urlsplit

BOUNDARY = "kbqa-benchmark"
INDEXING_TIMEOUT_S = 1800.0
POLL_S = 0.03


@dataclass(frozen=True, slots=True)
class Answer:
    """One answered question: time to the first token, to the end, and the outcome."""

    first_token_ms: float
    total_ms: float
    outcome: str


class Client:
    """Speaks to one server over a connection that is kept open."""

    def __init__(self, base_url: str) -> None:
        self._connection = HTTPConnection(urlsplit(base_url).netloc, timeout=300)

    def call(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Any:
        """Return the JSON of a successful call."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self._connection.request(method, path, body, named)
        response = self._connection.getresponse()
        text = response.read()
        if response.status >= 400:
            raise RuntimeError(f"{method} {path}: {response.status} {text[:200]!r}")
        return json.loads(text) if text else None

    def post(self, path: str, body: object) -> Any:
        """Post JSON."""
        return self.call("POST", path, json.dumps(body).encode(), Content_Type="application/json")

    def upload(self, name: str, text: str) -> str:
        """Upload a text file and return the document's id."""
        head = (
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
            "Content-Type: text/plain\r\n\r\n"
        )
        body = head.encode() + text.encode() + f"\r\n--{BOUNDARY}--\r\n".encode()
        kind = f"multipart/form-data; boundary={BOUNDARY}"
        return str(self.call("POST", "/api/v1/documents", body, Content_Type=kind)["id"])

    def wait_indexed(self, document_ids: list[str]) -> list[dict[str, Any]]:
        """Wait until all documents are indexed and return them."""
        deadline = time.monotonic() + INDEXING_TIMEOUT_S
        documents = []
        for document_id in document_ids:
            while True:
                document = self.call("GET", f"/api/v1/documents/{document_id}")
                if document["status"] == "indexed":
                    break
                if document["status"] == "failed" or time.monotonic() > deadline:
                    raise RuntimeError(f"not indexed: {document}")
                time.sleep(POLL_S)
            documents.append(document)
        return documents

    def search_ms(self, query: str, *, limit: int = 5) -> float:
        """Return how long a search took."""
        begun = time.perf_counter()
        self.call("GET", f"/api/v1/search?query={quote(query)}&limit={limit}")
        return (time.perf_counter() - begun) * 1000

    def ask(self, session_id: str, question: str) -> Answer:
        """Ask and read the stream to its end."""
        body = json.dumps({"session_id": session_id, "query": question}).encode()
        begun = time.perf_counter()
        headers = {"Content-Type": "application/json"}
        self._connection.request("POST", "/api/v1/chat/stream", body, headers)
        response = self._connection.getresponse()
        event, first, outcome = "", 0.0, ""
        for raw in response:
            line = raw.decode().rstrip("\n")
            if line.startswith("event: "):
                event = line.removeprefix("event: ")
                if event == "token" and not first:
                    first = time.perf_counter()
            elif line.startswith("data: ") and event in {"done", "error"}:
                data = json.loads(line.removeprefix("data: "))
                outcome = str(data.get("outcome") or data.get("code"))
        return Answer((first - begun) * 1000, (time.perf_counter() - begun) * 1000, outcome)

    def new_session(self) -> str:
        """Make a session and return its id."""
        return str(self.post("/api/v1/sessions", {})["id"])
