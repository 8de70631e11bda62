"""A server on a temporary folder, with embedded models or with the stand-in for both endpoints."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import psutil

from tests.fault_server import FaultServer, Pace
from tests.server_process import CHILDREN, ServerProcess

if TYPE_CHECKING:
    from collections.abc import Iterator

DIMENSION = 1024


def endpoint_settings(endpoint: FaultServer) -> dict[str, str]:
    """Return the settings that make the stand-in the vendor."""
    return {
        "KBQA_DASHSCOPE_API_KEY": "not-a-secret",
        "KBQA_DASHSCOPE_BASE_URL": endpoint.base_url,
        "KBQA_EMBEDDING_DIM": str(DIMENSION),
        "KBQA_EVIDENCE_THRESHOLD": "-1",
    }


@contextmanager
def stand_in_server(pace: Pace | None = None) -> Iterator[tuple[ServerProcess, FaultServer]]:
    """A healthy server whose models are the stand-in."""
    with (
        TemporaryDirectory(prefix="kbqa-bench-") as folder,
        FaultServer(dimension=DIMENSION, pace=pace) as endpoint,
        ServerProcess(Path(folder), **endpoint_settings(endpoint)) as server,
    ):
        yield server, endpoint


@contextmanager
def embedded_server() -> Iterator[ServerProcess]:
    """A healthy server with the embedded models."""
    with (
        TemporaryDirectory(prefix="kbqa-bench-") as temporary,
        ServerProcess(Path(temporary)) as server,
    ):
        yield server


def cpu_s(server: ServerProcess) -> dict[str, float]:
    """Return the processor time that each child has used, collected grandchildren included."""
    used = {}
    for name in CHILDREN:
        child = server.child(name)
        used[name] = sum(child.cpu_times()[:4]) if child else 0.0
    return used


def unique_mib(server: ServerProcess) -> dict[str, float]:
    """Return the memory that only one process uses, for each child and the supervisor."""
    processes = {"supervisor": psutil.Process(server.pid)}
    for name in CHILDREN:
        child = server.child(name)
        if child is not None:
            processes[name] = child
    return {name: p.memory_full_info().uss / 2**20 for name, p in processes.items()}


def spent(before: dict[str, float], after: dict[str, float]) -> str:
    """Return the processor time between two measurements, in words."""
    return ", ".join(f"{name} {after[name] - before[name]:.2f} s" for name in after)
