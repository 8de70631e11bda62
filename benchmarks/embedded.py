"""The embedded models: first token of Chinese answers, and memory at 1,000 chunks."""

from __future__ import annotations

import statistics
import time

from benchmarks.client import Client
from benchmarks.corpus import questions, text_of
from benchmarks.report import Figure, percentile, show
from benchmarks.servers import embedded_server, unique_mib

DOCUMENTS = 11
CHUNKS_EACH = 100
QUESTIONS = 30


def measure() -> list[Figure]:
    """Index 1,000 chunks, ask 30 questions, then look at the memory."""
    with embedded_server() as server:
        client = Client(server.base_url)
        begun = time.perf_counter()
        uploaded = [
            client.upload(f"{number}.txt", text_of(CHUNKS_EACH, seed=number))
            for number in range(DOCUMENTS)
        ]
        count = sum(document["chunk_count"] for document in client.wait_indexed(uploaded))
        indexing_s = time.perf_counter() - begun
        first = [client.ask(client.new_session(), q).first_token_ms for q in questions(QUESTIONS)]
        memory = unique_mib(server)
    shares = ", ".join(f"{name} {mib:.0f}" for name, mib in memory.items())
    return [
        Figure(f"embedded indexing, {count} chunks", count / indexing_s, "chunks/s"),
        Figure("embedded first token, median", statistics.median(first) / 1000, "s", 3),
        Figure("  95th percentile", percentile(first, 95) / 1000, "s"),
        Figure(f"memory of all processes ({shares})", sum(memory.values()), "MiB USS", 750),
    ]


if __name__ == "__main__":
    show(measure())
