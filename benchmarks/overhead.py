"""What the product adds to the models' own time, up to the first token of an answer."""

from __future__ import annotations

import statistics

from benchmarks.client import Client
from benchmarks.corpus import questions, text_of
from benchmarks.report import Figure, percentile, show
from benchmarks.servers import cpu_s, stand_in_server
from tests.fault_server import Pace, Request

WARM_UP = 5
QUESTIONS = 40
CHUNKS = 200
PACE = Pace(first_token_s=0.1, tokens_per_s=200)


def measure() -> list[Figure]:
    """Ask on a warm server; the stand-in tells its own time.

    It streams at the pace of a fast vendor, since what is done with a token while the next one is
    being written costs no time.
    """
    with stand_in_server(PACE) as (server, endpoint):
        client = Client(server.base_url)
        client.wait_indexed([client.upload("rules.txt", text_of(CHUNKS, seed=1))])
        for question in questions(WARM_UP, seed=3):
            client.ask(client.new_session(), question)
        before, own = cpu_s(server), []
        for question in questions(QUESTIONS):
            endpoint.requests.clear()
            answer = client.ask(client.new_session(), question)
            if answer.outcome != "answered":
                raise RuntimeError(f"the stand-in's answer came out as {answer.outcome}")
            own.append(answer.first_token_ms - _models_s(endpoint.requests) * 1000)
        web_ms = (cpu_s(server)["web"] - before["web"]) * 1000 / QUESTIONS
    name = "outside model calls to the first token, median"
    return [
        Figure(name, statistics.median(own), "ms", 50),
        Figure("  95th percentile", percentile(own, 95), "ms"),
        Figure("  processor time of the web process for a whole question", web_ms, "ms"),
        Figure("  model calls for each question", len(endpoint.requests), "calls"),
    ]


def _models_s(requests: list[Request]) -> float:
    """Return how long a run waited for models; requests at the same time count once.

    Of the last request, which streams the answer, only the first token counts.
    """
    *others, last = sorted(requests, key=lambda request: request.begun)
    waited, until = 0.0, 0.0
    for request in others:
        end = request.begun + request.seconds
        waited += max(0.0, end - max(request.begun, until))
        until = max(until, end)
    return waited + max(0.0, last.begun + PACE.first_token_s - max(last.begun, until))


if __name__ == "__main__":
    show(measure())
