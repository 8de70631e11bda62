"""Processes of the product that the documents tests start, stop and kill."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Self

from apps.documents.errors import VectorStoreUnavailableError
from kbqa_project.env import BASE_DIR
from tests.server_process import wait_until

if TYPE_CHECKING:
    import signal
    from pathlib import Path

    from apps.documents.vectors.client import VectorClient

STOP_TIMEOUT_S = 10.0


class ManagedProcess:
    """A `manage.py` command in a process of its own; ended with the block, if not before.

    Without an environment it shares the data folder of the tests.
    """

    def __init__(self, *arguments: str, environment: dict[str, str] | None = None) -> None:
        self.log: list[str] = []
        self._popen = subprocess.Popen(
            [sys.executable, "manage.py", *arguments],
            cwd=BASE_DIR,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_details: object) -> None:
        self.kill()

    @property
    def exit_code(self) -> int | None:
        return self._popen.poll()

    def signal(self, number: signal.Signals) -> None:
        self._popen.send_signal(number)

    def wait(self) -> int:
        code = self._popen.wait(STOP_TIMEOUT_S)
        self._reader.join(STOP_TIMEOUT_S)
        return code

    def kill(self) -> None:
        """SIGKILL, and collect the process."""
        if self._popen.poll() is None:
            self._popen.kill()
        self._popen.wait(STOP_TIMEOUT_S)

    def _read(self) -> None:
        assert self._popen.stdout is not None
        self.log.extend(line.rstrip() for line in self._popen.stdout)


def wait_until_ready(client: VectorClient) -> None:
    """Wait until the owner has loaded its data."""
    wait_until(lambda: _state(client) == "ready", timeout_s=60)


def _state(client: VectorClient) -> str:
    try:
        return client.health().state
    except VectorStoreUnavailableError:
        return "gone"


def folder_of(data_dir: Path) -> Path:
    """Return the vector folder inside a data folder."""
    return data_dir / "milvus" / "kbqa.db"
