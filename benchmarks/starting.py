"""Starting: from the command to a healthy server on an empty folder, and the way back."""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.report import Figure, show
from tests.server_process import ServerProcess

STARTS = 5


def measure() -> list[Figure]:
    """Start and stop servers on new folders."""
    starts, stops = [], []
    for _ in range(STARTS):
        with TemporaryDirectory(prefix="kbqa-bench-") as folder:
            begun = time.perf_counter()
            server = ServerProcess(Path(folder))
            server.wait_until_ready()
            starts.append(time.perf_counter() - begun)
            begun = time.perf_counter()
            server.stop()
            stops.append(time.perf_counter() - begun)
    return [
        Figure("healthy, empty folder, slowest of 5", max(starts), "s", 6),
        Figure("  median", statistics.median(starts), "s"),
        Figure("stopped, slowest of 5", max(stops), "s", 10),
    ]


if __name__ == "__main__":
    show(measure())
