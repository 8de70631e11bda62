"""A real `manage.py serve` on a free port and its own data folder, for tests and benchmarks."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any, Self

import psutil

from kbqa_project.env import BASE_DIR

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

READY = "serve | ready at "
START_TIMEOUT_S = 90.0
STOP_TIMEOUT_S = 10.0  # the promise of manage.py serve
CHILDREN = {"vectors": "vector_server", "worker": "worker", "web": "web"}


def product_environment(data_dir: Path, **variables: str) -> dict[str, str]:
    """Return an environment for a process of the product: nothing configured but `variables`."""
    prefixes = ("KBQA_", "LANGSMITH_", "LANGCHAIN_", "DJANGO_", "COV_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(prefixes)}
    return {**kept, "KBQA_ENV_FILE": "", "KBQA_DATA_DIR": str(data_dir), **variables}


def manage(data_dir: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command of manage.py to its end."""
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=BASE_DIR,
        env=product_environment(data_dir, **variables),
        check=False,
        capture_output=True,
        text=True,
        timeout=START_TIMEOUT_S,
    )


class ServerProcess:
    """A running server; as a context manager it is stopped at the end.

    `base_url` is set once it is healthy, `log` holds its output so far.
    """

    def __init__(self, data_dir: Path, *, port: int = 0, **variables: str) -> None:
        self.data_dir = data_dir
        self.log: list[str] = []
        self.base_url = ""
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._popen = subprocess.Popen(
            [sys.executable, "manage.py", "serve", "--port", str(port)],
            cwd=BASE_DIR,
            env=product_environment(data_dir, **variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        threading.Thread(target=self._read_output, daemon=True).start()

    def __enter__(self) -> Self:
        self.wait_until_ready()
        return self

    def __exit__(self, *_details: object) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        return self._popen.pid

    def wait_until_ready(self) -> None:
        """Wait for the line that tells the address."""
        deadline = time.monotonic() + START_TIMEOUT_S
        while not self.base_url:
            line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            if line is None:
                raise AssertionError("the server ended:\n" + "\n".join(self.log))
            if line.startswith(READY):
                self.base_url = line.removeprefix(READY)

    def child(self, name: str) -> psutil.Process | None:
        """Return the running child of that name, or None."""
        for process in psutil.Process(self.pid).children():
            if is_running(process) and CHILDREN[name] in process.cmdline()[1:3]:
                return process
        return None

    def descendants(self) -> list[psutil.Process]:
        """Return every process below the supervisor."""
        return psutil.Process(self.pid).children(recursive=True)

    def health(self) -> dict[str, Any]:
        """Return what /health answers, {} while it cannot be asked."""
        return self.get("/health")

    def get(self, path: str) -> dict[str, Any]:
        """Return the JSON of an address, whatever its status; {} when there is no answer."""
        try:
            with urllib.request.urlopen(f"{self.base_url}{path}", timeout=10) as response:
                return dict(json.load(response))
        except urllib.error.HTTPError as error:
            return dict(json.load(error))
        except OSError:
            return {}

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the supervisor."""
        self._popen.send_signal(number)

    def wait(self, timeout_s: float = STOP_TIMEOUT_S) -> int:
        """Wait for the end of the supervisor and return its exit code."""
        return self._popen.wait(timeout_s)

    def stop(self) -> int:
        """End the server as Ctrl-C does, and kill what is left of it; return its exit code."""
        if self._popen.poll() is not None:
            return self._popen.returncode
        left = [psutil.Process(self.pid), *self.descendants()]
        self.signal(signal.SIGINT)
        try:
            return self.wait()
        finally:
            for process in filter(is_running, left):
                process.kill()

    def _read_output(self) -> None:
        assert self._popen.stdout is not None
        for line in self._popen.stdout:
            self.log.append(line.rstrip())
            self._lines.put(line.rstrip())
        self._lines.put(None)


def is_running(process: psutil.Process) -> bool:
    """Whether a process exists and is more than an entry that nobody has collected yet."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_until(condition: Callable[[], bool], *, timeout_s: float = 30) -> None:
    """Poll until the condition holds; fails after `timeout_s`."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "the condition never held"
        time.sleep(0.05)
