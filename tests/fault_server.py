"""An OpenAI-compatible server over real HTTP: well-behaved, or failing as a script says.

A script is the JSON of a provider case: `{"kind": "chat", "turns": [...]}` or `{"kind":
"embeddings", "calls": [...]}`. Each request takes the next turn, the last one repeats. Calls that
ask for JSON (the intent stage) are answered by the server itself, unless the script has `intent`
texts. Tool names in a script are mapped to the tool that the request offers. Without a script the
server plays all stages well; pacing is for benchmarks. It stands in for endpoints only: it knows
nothing of the product but the form of its prompts' last messages. A `limit` refuses longer
prompts.
"""

from __future__ import annotations

import base64
import contextlib
import json
import re
import socket
import struct
import threading
import time
import zlib
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np

if TYPE_CHECKING:
    from tests.prompt_limit import PromptLimit

LONGEST_HANG_S = 300.0
PIECE_CHARS = 2  # about one token of Chinese text
NEVER = 10**9
USAGE = {"prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150}
WAITING_STEP_S = 0.02
SMALL_TALK = {"你好": "你好！", "Hello": "Hello!"}


@dataclass(slots=True)
class Request:
    """What a client sent; `begun` is of `time.perf_counter`, `seconds` how long answering took."""

    path: str
    body: dict[str, Any]
    headers: dict[str, str]
    begun: float = field(default_factory=time.perf_counter)
    seconds: float = 0.0
    abandoned: threading.Event = field(default_factory=threading.Event)

    @property
    def is_abandoned(self) -> bool:
        """Whether the client closed the connection before the answer was whole."""
        return self.abandoned.is_set()


@dataclass(slots=True)
class Pace:
    """Seconds before the first token, and tokens per second after it (0: at once)."""

    first_token_s: float = 0.0
    tokens_per_s: float = 0.0


@dataclass(slots=True)
class _Script:
    steps: list[dict[str, Any]]
    position: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def next(self) -> dict[str, Any]:
        with self.lock:
            step = self.steps[min(self.position, len(self.steps) - 1)]
            self.position += 1
            return step


class FaultServer:
    """A context manager; `base_url` is for the client, `requests` what it sent, in order."""

    def __init__(
        self,
        script: dict[str, Any] | None = None,
        *,
        dimension: int = 8,
        pace: Pace | None = None,
        limit: PromptLimit | None = None,
    ) -> None:
        self.dimension = dimension
        self.limit = limit
        self.pace = pace or Pace()
        self.requests: list[Request] = []
        self.play(script or {})
        self.is_closing = threading.Event()
        self._arrived = threading.Condition()
        handler = type("Handler", (_Handler,), {"owner": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    def play(self, script: dict[str, Any]) -> None:
        """Answer from now on as a script says, from its beginning."""
        self.dimension = int(script.get("dim", self.dimension))
        self.turns = _Script(_repeated(script["turns"])) if script.get("turns") else None
        self.calls = _Script(script["calls"]) if script.get("calls") else None
        self.intents = _Script(script["intent"]) if script.get("intent") else None

    @property
    def base_url(self) -> str:
        """The address that a client is configured with."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def wait_until_abandoned(self, request: Request, timeout_s: float = 10.0) -> None:
        """Return when the client has left `request`, or after `timeout_s`."""
        request.abandoned.wait(timeout_s)

    def wait_for_requests(self, count: int, timeout_s: float = 10.0) -> None:
        """Return when `count` requests have arrived, or after `timeout_s`."""
        with self._arrived:
            self._arrived.wait_for(lambda: len(self.requests) >= count, timeout_s)

    def record(self, request: Request) -> None:
        """Note a request that arrived."""
        with self._arrived:
            self.requests.append(request)
            self._arrived.notify_all()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.is_closing.set()
        self._http.shutdown()
        self._http.server_close()


class _Handler(BaseHTTPRequestHandler):
    owner: FaultServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def handle(self) -> None:
        with contextlib.suppress(ConnectionResetError):  # by a client that was killed
            super().handle()

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(length))
        self.seen = Request(
            self.path, body, {name.lower(): value for name, value in self.headers.items()}
        )
        self.owner.record(self.seen)
        try:
            if self.path.endswith("/embeddings"):
                self._embeddings(body)
            else:
                self._chat(body)
        except (BrokenPipeError, ConnectionResetError):
            self.seen.abandoned.set()
            self.close_connection = True
        self.seen.seconds = time.perf_counter() - self.seen.begun

    def log_message(self, *_args: object) -> None:
        """Stay silent."""

    def _chat(self, body: dict[str, Any]) -> None:
        refusal = self.owner.limit and self.owner.limit.refusal(body)
        if refusal:
            self._plain({"http": 400, "body": refusal})
        elif "response_format" in body:
            self._say(_intent(self.owner, body), body)
        elif self.owner.turns is None:
            self._play_well(body)
        else:
            self._replay(self.owner.turns.next(), body)

    def _play_well(self, body: dict[str, Any]) -> None:
        tools = {tool["function"]["name"] for tool in body.get("tools", ())}
        queries = _missing_queries(body) if "search_knowledge_base" in tools else []
        if queries:
            self._call_tool("search_knowledge_base", [{"query": q} for q in queries], body)
        else:
            self._say(_answer(_question(body), str(body["messages"][-1]["content"])), body)

    def _replay(self, turn: dict[str, Any], body: dict[str, Any]) -> None:
        if "http" in turn:
            self._plain(turn)
            return
        self._begin_stream()
        names = [tool["function"]["name"] for tool in body.get("tools", ())]
        for event in turn.get("sse", ()):
            self._event(event if isinstance(event, str) else _renamed(event, names))
        self._end(str(turn.get("end", "done")))

    def _say(self, text: str, body: dict[str, Any]) -> None:
        pieces = [text[i : i + PIECE_CHARS] for i in range(0, len(text), PIECE_CHARS)]
        self._stream([{"content": piece} for piece in pieces], "stop", body)

    def _call_tool(self, name: str, wanted: list[dict[str, str]], body: dict[str, Any]) -> None:
        calls = [
            {
                "index": index,
                "id": f"call_{len(self.owner.requests)}_{index}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(each, ensure_ascii=False)},
            }
            for index, each in enumerate(wanted)
        ]
        self._stream([{"tool_calls": [call]} for call in calls], "tool_calls", body)

    def _stream(self, deltas: list[dict[str, Any]], reason: str, body: dict[str, Any]) -> None:
        pace = self.owner.pace
        time.sleep(pace.first_token_s)
        self._begin_stream()
        for position, delta in enumerate(deltas):
            if position and pace.tokens_per_s:
                time.sleep(1 / pace.tokens_per_s)
            self._event(_chunk(delta, None))
        self._event(_chunk({}, reason))
        if (body.get("stream_options") or {}).get("include_usage"):
            usage = USAGE | {"prompt_tokens": len(json.dumps(body["messages"])) // 4}
            self._event({"id": "c1", "model": body["model"], "choices": [], "usage": usage})
        self._end("done")

    def _begin_stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        if self.owner.turns is None:  # as vendors do; what goes wrong ends with the connection
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()

    def _event(self, event: dict[str, Any] | str) -> None:
        data = event if isinstance(event, str) else json.dumps(event, ensure_ascii=False)
        frame = f"data: {data}\n\n".encode()
        if self.owner.turns is None:
            frame = b"%x\r\n%b\r\n" % (len(frame), frame)
        self.wfile.write(frame)
        self.wfile.flush()

    def _end(self, end: str) -> None:
        if end == "done":
            self._event("[DONE]")
            if self.owner.turns is None:
                self.wfile.write(b"0\r\n\r\n")
        elif end == "hang":
            self._hang(LONGEST_HANG_S)
        elif end == "reset":
            linger = struct.pack("ii", 1, 0)  # close with RST
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.connection.close()

    def _hang(self, seconds: float) -> None:
        """Stay silent until the client goes away, which is noted, or the server closes."""
        self.close_connection = True
        deadline = time.monotonic() + seconds
        self.connection.settimeout(WAITING_STEP_S)
        while time.monotonic() < deadline and not self.owner.is_closing.is_set():
            with contextlib.suppress(TimeoutError):
                if not self.connection.recv(1, socket.MSG_PEEK):
                    self.seen.abandoned.set()
                    return
                time.sleep(WAITING_STEP_S)

    def _plain(self, step: dict[str, Any]) -> None:
        text = step.get("body_text")
        data = (text if text is not None else json.dumps(step.get("body", {}))).encode()
        self.send_response(int(step["http"]))
        self.send_header("Content-Type", "application/json" if text is None else "text/html")
        for name, value in (step.get("headers") or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _embeddings(self, body: dict[str, Any]) -> None:
        step = self.owner.calls.next() if self.owner.calls else {"ok": True}
        if "http" in step:
            self._plain(step)
        elif "hang" in step:
            self._hang(float(step["hang"]))
        else:
            texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
            self._plain({"http": 200, "body": _embedded(texts, step, self.owner.dimension)})


def _repeated(turns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [turn for turn in turns for _ in range(int(turn.get("repeat", 1)))]


def _intent(owner: FaultServer, body: dict[str, Any]) -> str:
    if owner.intents is not None:
        return str(owner.intents.next()["text"])
    question = _question(body)
    reply = SMALL_TALK.get(question)
    result = {"route": "NEEDS_EXECUTION"}
    if reply:
        result = {"route": "DIRECT_EXECUTION", "assistant_text": reply}
    return json.dumps(result, ensure_ascii=False)


def _missing_queries(body: dict[str, Any]) -> list[str]:
    """Return what a researcher has to search: the question, then each of its questions at once."""
    question = _question(body)
    searched = {
        json.loads(call["function"]["arguments"]).get("query")
        for message in body["messages"]
        for call in message.get("tool_calls") or ()
    }
    parts = [f"{part}？" for part in question.rstrip("？").split("？")]
    if not searched and len(parts) == 1:
        return [question[:200]]
    missing = [part for part in parts if part not in searched]
    return missing if len(parts) > 1 else []


def _question(body: dict[str, Any]) -> str:
    return next(str(m["content"]) for m in reversed(body["messages"]) if m["role"] == "user")


def _answer(question: str, content: str) -> str:
    """Cite the evidence; refuse when it shares no two characters in a row with the question."""
    evidence = re.search(r"<evidence>(.*)</evidence>", content, re.DOTALL)
    pairs = {first + second for first, second in pairwise(question)}
    if evidence and not any(pair in evidence[1] for pair in pairs):
        return "INSUFFICIENT_EVIDENCE"
    labels = re.findall(r"\[S\d+\]", content) or [""]
    return f"根据资料可以确定这一点{labels[-1]}。其余内容见所列出处{labels[0]}。"


def _chunk(delta: dict[str, Any], reason: str | None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "stand-in",
        "choices": [choice],
    }


def _renamed(event: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """Return the event with foreign tool names replaced by the tool that was offered."""
    event = json.loads(json.dumps(event))
    for choice in event.get("choices") or ():
        for call in (choice.get("delta") or {}).get("tool_calls") or ():
            function = call.get("function") or {}
            if names and function.get("name") and function["name"] not in names:
                function["name"] = names[0]
    return event


def _embedded(texts: list[str], step: dict[str, Any], dimension: int) -> dict[str, Any]:
    dimension = int(step.get("dim", dimension))
    rows = [_vector(text, dimension) for text in texts]
    if step.get("values") == "nan":
        rows[0][0] = float("nan")
    if step.get("values") == "zero":
        rows[0][:] = 0.0
    kept = rows[: len(rows) - int(step.get("drop_last", 0))]
    data = [
        {"object": "embedding", "index": i, "embedding": _encoded(row, step)}
        for i, row in enumerate(kept)
    ]
    tokens = sum(len(text) for text in texts)
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "data": data, "model": "stand-in", "usage": usage}


def _encoded(row: np.ndarray[Any, Any], step: dict[str, Any]) -> str | list[float]:
    if step.get("encoding") == "base64":
        return base64.b64encode(row.astype("<f4").tobytes()).decode()
    return [float(number) for number in row]


def _vector(text: str, dimension: int) -> np.ndarray[Any, Any]:
    """Return counts of hashed character pairs: similar texts get similar vectors."""
    vector = np.full(dimension, 1e-3)
    for pair in zip(text, text[1:] + " ", strict=True):
        vector[zlib.crc32("".join(pair).encode("utf-8", "replace")) % dimension] += 1.0
    return vector
