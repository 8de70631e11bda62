"""Processes that watch their parent, and the locks that live as long as a process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from django.conf import settings

from apps.core.processes.instance_lock import take_lock
from apps.core.processes.parent_watch import ORPHANED_EXIT_CODE

WATCHING = """
import signal, sys, time
from apps.core.processes.parent_watch import watch_parent
if sys.argv[2] == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
watch_parent(int(sys.argv[1]), grace_s=0.1)
print("watching", flush=True)
time.sleep(60)
"""
HOLDING = """
import sys, time
from pathlib import Path
from apps.core.processes.instance_lock import take_lock
print(take_lock(Path(sys.argv[1])) is not None, flush=True)
time.sleep(60)
"""


def start(code, *arguments, descriptors=()):
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=settings.BASE_DIR,
        pass_fds=descriptors,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize(
    ("hearing", "exit_code"), [("hears", -signal.SIGTERM), ("deaf", ORPHANED_EXIT_CODE)]
)
def test_child_ends_when_the_pipe_of_its_parent_closes(hearing, exit_code):
    read_end, write_end = os.pipe()
    with start(WATCHING, str(read_end), hearing, descriptors=(read_end,)) as child:
        os.close(read_end)
        assert child.stdout.readline() == "watching\n"

        os.close(write_end)

        assert child.wait(timeout=20) == exit_code


def test_lock_is_refused_while_another_process_holds_it_and_free_after_its_kill(tmp_path):
    path = tmp_path / "lock"
    with start(HOLDING, str(path)) as holder:
        assert holder.stdout.readline() == "True\n"
        refused = take_lock(path)

        holder.kill()
        holder.wait(timeout=20)
        taken = take_lock(path)

    assert (refused, taken is None) == (None, False)
    os.close(taken)


def test_lock_waits_for_a_holder_that_ends(tmp_path):
    path = tmp_path / "lock"
    with start(HOLDING, str(path)) as holder:
        assert holder.stdout.readline() == "True\n"
        holder.kill()

        taken = take_lock(path, wait_s=20)

    assert taken is not None
    os.close(taken)
