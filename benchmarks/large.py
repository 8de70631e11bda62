"""50,000 chunks: search, a start after a clean stop, and a start after everything was killed."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.client import Client
from benchmarks.corpus import questions, text_of
from benchmarks.report import Figure, percentile, show
from benchmarks.servers import DIMENSION, cpu_s, endpoint_settings, unique_mib
from tests.fault_server import FaultServer
from tests.server_process import ServerProcess

DOCUMENTS = 54  # of about 925 chunks
CHUNKS_EACH = 1000
SEARCHES = 300
IDLE_S = 3.0


def measure() -> list[Figure]:
    """Fill a server, search it, and start it again after a clean stop and after a kill."""
    with (
        TemporaryDirectory(prefix="kbqa-bench-") as folder,
        FaultServer(dimension=DIMENSION) as endpoint,
    ):
        settings = endpoint_settings(endpoint)
        with ServerProcess(Path(folder), **settings) as server:
            figures = _fill(server)
            _wait_until_settled(server)
            figures += _search(server, endpoint)
        figures.append(_start("healthy at 50,000 after a clean stop", folder, settings, target=15))
        with ServerProcess(Path(folder), **settings) as server:
            client = Client(server.base_url)
            client.wait_indexed([client.upload("more.txt", text_of(CHUNKS_EACH, seed=-1))])
            for process in server.descendants():
                process.kill()
            server.signal(signal.SIGKILL)
        figures.append(_start("healthy at 50,000 after a kill", folder, settings))
        return figures


def _fill(server: ServerProcess) -> list[Figure]:
    client = Client(server.base_url)
    begun = time.perf_counter()
    uploaded = [
        client.upload(f"{number}.txt", text_of(CHUNKS_EACH, seed=number))
        for number in range(DOCUMENTS)
    ]
    count = sum(document["chunk_count"] for document in client.wait_indexed(uploaded))
    wall_s = time.perf_counter() - begun
    return [
        Figure("chunks indexed", count, "chunks"),
        Figure("  with the stand-in's time", count / wall_s, "chunks/s"),
    ]


def _wait_until_settled(server: ServerProcess) -> None:
    """Wait until the owner of the vectors has built its indexes and rests."""
    before = cpu_s(server)["vectors"]
    while True:
        time.sleep(IDLE_S)
        now = cpu_s(server)["vectors"]
        if now - before < IDLE_S / 20:
            return
        before = now


def _search(server: ServerProcess, endpoint: FaultServer) -> list[Figure]:
    client = Client(server.base_url)
    times = []
    for query in questions(SEARCHES):
        endpoint.requests.clear()
        took = client.search_ms(query)
        times.append(took - sum(request.seconds for request in endpoint.requests) * 1000)
    memory = unique_mib(server)
    return [
        Figure("search through the API, 95th percentile", percentile(times, 95), "ms", 120),
        Figure("  median", percentile(times, 50), "ms"),
        Figure("  memory of the owner of the vectors", memory["vectors"], "MiB USS"),
    ]


def _start(
    name: str, folder: str, settings: dict[str, str], target: float | None = None
) -> Figure:
    begun = time.perf_counter()
    with ServerProcess(Path(folder), **settings) as server:
        took = time.perf_counter() - begun
        restarts = sum("starting again" in line for line in server.log)
        loading = any("still loading" in line for line in server.log)
    told = ", shown as loading" if loading else ""
    return Figure(f"{name} ({restarts} restarts{told})", took, "s", target)


if __name__ == "__main__":
    show(measure())
