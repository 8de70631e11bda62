"""What each kind of question costs: model calls, prompt tokens and time before the first token."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from benchmarks.client import Client
from benchmarks.corpus import questions, text_of
from benchmarks.report import Figure, show
from benchmarks.servers import stand_in_server
from tests.fault_server import Pace
from tests.prompt_tokens import prompt_tokens

if TYPE_CHECKING:
    from tests.fault_server import FaultServer

WARM_UP = 3
QUESTIONS = 20
CHUNKS = 200
PACE = Pace(first_token_s=0.2, tokens_per_s=100)


def measure() -> list[Figure]:
    """Ask simple, compound and small-talk questions on a warm server at a vendor's pace."""
    asked = questions(2 * QUESTIONS)
    kinds = {
        "simple": asked[:QUESTIONS],
        "two questions in one": [a + b for a, b in zip(asked[::2], asked[1::2], strict=True)],
        "small talk": ["你好"] * QUESTIONS,
    }
    figures = []
    with stand_in_server(PACE) as (server, endpoint):
        client = Client(server.base_url)
        client.wait_indexed([client.upload("rules.txt", text_of(CHUNKS, seed=1))])
        for question in questions(WARM_UP, seed=3):
            client.ask(client.new_session(), question)
        for kind, of_kind in kinds.items():
            figures += _figures(kind, of_kind, client, endpoint)
    return figures


def _figures(kind: str, of_kind: list[str], client: Client, endpoint: FaultServer) -> list[Figure]:
    waited, calls, counted, estimated = [], [], [], []
    for question in of_kind:
        endpoint.requests.clear()
        session = client.new_session()
        waited.append(client.ask(session, question).first_token_ms)
        bodies = [sent.body for sent in endpoint.requests if sent.path.endswith("/completions")]
        calls.append(len(bodies))
        estimated.append(sum(map(prompt_tokens, bodies)))
        made = client.call("GET", f"/api/v1/sessions/{session}/costs")["calls"]
        counted.append(sum(call["input_tokens"] for call in made if call["kind"] == "chat"))
    return [
        Figure(f"{kind}: chat calls before the first token", statistics.mean(calls), "calls"),
        Figure(f"{kind}: prompt tokens of them", statistics.mean(estimated), "tokens"),
        Figure(f"{kind}: the same as the stand-in counts", statistics.mean(counted), "tokens"),
        Figure(f"{kind}: first token, median", statistics.median(waited), "ms"),
    ]


if __name__ == "__main__":
    show(measure())
