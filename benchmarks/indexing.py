"""Indexing: chunks per second of long documents and the fixed cost of small ones."""

from __future__ import annotations

import statistics
import time

from benchmarks.client import Client
from benchmarks.corpus import text_of
from benchmarks.report import Figure, show
from benchmarks.servers import cpu_s, spent, stand_in_server

LONG_CHUNKS = (200, 1000)
SMALL_DOCUMENTS = 10


def measure() -> list[Figure]:
    """Index long and small documents on a warm server."""
    with stand_in_server() as (server, endpoint):
        client = Client(server.base_url)
        client.wait_indexed([client.upload("warm.txt", text_of(2, seed=0))])
        figures = []
        for chunks in LONG_CHUNKS:
            endpoint.requests.clear()
            text, before = text_of(chunks, seed=chunks), cpu_s(server)
            begun = time.perf_counter()
            count = client.wait_indexed([client.upload("long.txt", text)])[0]["chunk_count"]
            wall_s = time.perf_counter() - begun
            embedding_s = sum(request.seconds for request in endpoint.requests)
            own = count / (wall_s - embedding_s)
            name = f"indexing {count} chunks, stand-in's time excluded"
            figures.append(Figure(name, own, "chunks/s", 400, at_least=True))
            figures.append(Figure("  with the stand-in's time", count / wall_s, "chunks/s"))
            figures.append(Figure(f"  CPU: {spent(before, cpu_s(server))}", wall_s, "s wall"))
        small = []
        for number in range(SMALL_DOCUMENTS):
            endpoint.requests.clear()
            begun = time.perf_counter()
            client.wait_indexed([client.upload(f"small{number}.txt", text_of(2, seed=number))])
            embedding_s = sum(request.seconds for request in endpoint.requests)
            small.append((time.perf_counter() - begun - embedding_s) * 1000)
        figures.append(Figure("small document, median", statistics.median(small), "ms", 150))
        return figures


if __name__ == "__main__":
    show(measure())
