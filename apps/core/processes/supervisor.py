"""Keeps the processes of one server running and ends them in order; imports no Django.

`manage.py serve` checks everything that can be refused and then turns into this program, which
stays small because it loads nothing but the standard library. Children get the read end of one
pipe (`parent_watch`) and end by themselves when this process is gone. A child that ends is started
again with back-off; none is ever ended because it is slow, since loading many vectors takes time.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from apps.core.processes.announcement import announce_when_healthy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

type Process = subprocess.Popen[bytes]

MANAGE = "manage.py"
FOLDER_LOCKED_EXIT_CODE = 3  # of vector_server
BACKOFF_S = (0.2, 1.0, 2.0, 5.0, 10.0, 30.0)
SETTLED_S = 30.0  # a child that ran this long starts its back-off anew
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
OUTPUT_GRACE_S = 0.5
POLL_S = 0.02
STDOUT = 1  # written to directly: a buffer would fail again when it is flushed at the end

_output_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class ChildPlan:
    """One process: `arguments` follow `manage.py`, `descriptors` are inherited.

    `prepares` tells that the database is prepared before each start, `needs_database` that the
    first start waits for it, `outlives` that the process ends after those that do not.
    `stop_grace_s` is the time from SIGTERM to SIGKILL, `fatal` holds a sentence for each exit code
    after which a new start is pointless.
    """

    name: str
    arguments: tuple[str, ...]
    stop_grace_s: float
    descriptors: tuple[int, ...] = ()
    prepares: bool = False
    needs_database: bool = False
    outlives: bool = False
    fatal: dict[int, str] = field(default_factory=dict)


class Supervisor:
    """Runs the children until a signal arrives or one of them fails for good."""

    def __init__(self, children_lock_fd: int) -> None:
        self._children_lock_fd = children_lock_fd
        self._pipe_read, self._pipe_write = os.pipe()
        self._children: list[Child] = []
        self.prepared = threading.Event()
        self.ended = threading.Event()
        self.forced = False
        self.exit_code = 0

    def catch_signals(self) -> None:
        """End on the first signal, at once on the second; an ignored SIGHUP stays ignored."""
        for signum in STOP_SIGNALS:
            if signum != signal.SIGHUP or signal.getsignal(signum) != signal.SIG_IGN:
                signal.signal(signum, self._on_signal)

    def start(self, plan: ChildPlan) -> None:
        """Start a child and keep it running."""
        child = Child(plan, self)
        self._children.append(child)
        child.thread.start()

    def spawn(self, arguments: tuple[str, ...], descriptors: tuple[int, ...] = ()) -> Process:
        """Start `manage.py` with `arguments`, out of reach of the terminal's Ctrl-C."""
        command = [sys.executable, MANAGE, *arguments, "--parent-fd", str(self._pipe_read)]
        return subprocess.Popen(  # noqa: S603 - our own command line
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(self._pipe_read, self._children_lock_fd, *descriptors),
            start_new_session=True,
        )

    def fail(self, sentence: str) -> None:
        """End everything, with exit code 1."""
        if not self.ended.is_set():
            say(sentence)
            self.exit_code = 1
            self.ended.set()

    def wait(self) -> int:
        """Wait for the end, stop the children and return the exit code."""
        while not self.ended.wait(1):  # a finite wait lets signals in on every platform
            pass
        say("stopping")
        for outlives in (False, True):
            together = [child for child in self._children if child.outlives == outlives]
            for child in together:
                child.terminate()
            for child in together:
                child.stop()
        say("stopped")
        return self.exit_code

    def _on_signal(self, _signum: int, _frame: FrameType | None) -> None:
        self.forced = self.ended.is_set()
        self.ended.set()


class Child:
    """A process that is started again whenever it ends."""

    def __init__(self, plan: ChildPlan, supervisor: Supervisor) -> None:
        self._plan, self._supervisor = plan, supervisor
        self._lock = threading.Lock()
        self._process: Process | None = None
        self._deadline = 0.0
        self.thread = threading.Thread(target=self._keep_running, name=plan.name, daemon=True)

    @property
    def outlives(self) -> bool:
        """Whether the process ends after the others."""
        return self._plan.outlives

    def terminate(self) -> None:
        """Send SIGTERM; from now on its grace runs."""
        self._deadline = time.monotonic() + self._plan.stop_grace_s
        with self._lock:
            if self._process is not None:
                self._process.terminate()

    def stop(self) -> None:
        """Wait for the end after `terminate`; SIGKILL after its grace or when it is forced."""
        with self._lock:
            process = self._process
        if process is not None:
            self._end(process)
        self.thread.join(OUTPUT_GRACE_S)

    def _end(self, process: Process) -> None:
        while process.poll() is None:
            if self._supervisor.forced or time.monotonic() > self._deadline:
                say(f"{self._plan.name} did not end in time and is killed")
                process.kill()
                process.wait()
            time.sleep(POLL_S)

    def _keep_running(self) -> None:
        ended = self._supervisor.ended
        while self._plan.needs_database and not self._supervisor.prepared.wait(POLL_S):
            if ended.is_set():
                return
        delays = _backoff()
        while not ended.is_set():
            started = time.monotonic()
            code = self._start_and_wait()
            if ended.is_set() or self._is_fatal(code):
                return
            if time.monotonic() - started > SETTLED_S:
                delays = _backoff()
            delay_s = next(delays)
            say(f"{self._plan.name} ended ({_reason(code)}), starting again in {delay_s:g} s")
            ended.wait(delay_s)

    def _is_fatal(self, code: int) -> bool:
        sentence = self._plan.fatal.get(code)
        if self._plan.prepares and not self._supervisor.prepared.is_set():
            sentence = f"the database could not be prepared ({_reason(code)})"
        if sentence is not None:
            self._supervisor.fail(sentence)
        return sentence is not None

    def _start_and_wait(self) -> int:
        if self._plan.prepares:
            code = self._run("prepare", PREPARE)
            if code:
                return code
            self._supervisor.prepared.set()
        return self._run(self._plan.name, self._plan.arguments, self._plan.descriptors)

    def _run(
        self, name: str, arguments: tuple[str, ...], descriptors: tuple[int, ...] = ()
    ) -> int:
        with self._lock:
            if self._supervisor.ended.is_set():
                return 0
            self._process = self._supervisor.spawn(arguments, descriptors)
        return _pass_output(name, self._process)


def say(sentence: str, *, name: str = "serve") -> None:
    """Print one line; a closed output or a full disk loses the line and nothing else."""
    with _output_lock, contextlib.suppress(OSError):
        os.write(STDOUT, f"{name} | {sentence}\n".encode())


def main() -> int:
    """Run the server that `manage.py serve` describes by its arguments."""
    options = _arguments()
    listening = () if options.listen_fd is None else (options.listen_fd,)
    for descriptor in (options.lock_fd, options.children_lock_fd, *listening):
        os.set_inheritable(descriptor, False)
    supervisor = Supervisor(options.children_lock_fd)
    supervisor.catch_signals()
    if not options.remote_vectors:
        supervisor.start(VECTORS)
    supervisor.start(WORKER)
    supervisor.start(_web_plan(options.endpoint, listening))
    announce_when_healthy(options.url, supervisor.ended, say)
    return supervisor.wait()


PREPARE = ("prepare",)
VECTORS = ChildPlan(
    "vectors",
    ("vector_server",),
    stop_grace_s=4.5,
    outlives=True,
    fatal={FOLDER_LOCKED_EXIT_CODE: "another process uses the vector folder"},
)
WORKER = ChildPlan("worker", ("worker",), stop_grace_s=3.5, needs_database=True)


def _web_plan(endpoint: str, listening: tuple[int, ...]) -> ChildPlan:
    arguments = ("web", "--endpoint", endpoint)
    return ChildPlan("web", arguments, stop_grace_s=3.5, descriptors=listening, prepares=True)


def _pass_output(name: str, process: Process) -> int:
    """Copy the lines of a process to our output and return its exit code.

    A grandchild that still holds the pipe does not keep us here.
    """
    reader = threading.Thread(target=_copy_lines, args=(name, process), daemon=True)
    reader.start()
    code = process.wait()
    reader.join(OUTPUT_GRACE_S)
    return code


def _copy_lines(name: str, process: Process) -> None:
    if process.stdout is None:
        return
    for line in process.stdout:
        say(line.decode(errors="replace").rstrip(), name=name)


def _backoff() -> Iterator[float]:
    return itertools.chain(BACKOFF_S, itertools.repeat(BACKOFF_S[-1]))


def _reason(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Started by manage.py serve.")
    parser.add_argument("--lock-fd", type=int, required=True)
    parser.add_argument("--children-lock-fd", type=int, required=True)
    parser.add_argument("--listen-fd", type=int)
    parser.add_argument("--endpoint", required=True)
    parser.add_argument("--url", required=True)
    parser.add_argument("--remote-vectors", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
