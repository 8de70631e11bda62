"""Starts the owner of the local vector folder for commands that run without a server."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from django.conf import settings

from apps.documents.errors import VectorStoreLockedError, VectorStoreUnavailableError
from apps.documents.vectors.access import POLL_INTERVAL_S, vector_store

if TYPE_CHECKING:
    from collections.abc import Iterator

EXIT_LOCKED = 3
START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 10.0


@contextmanager
def running_owner() -> Iterator[None]:
    """Have an owner while the block runs: the server's if there is one, else a process of ours.

    Raises:
        VectorStoreLockedError: another process holds the folder and does not serve it.
        VectorStoreUnavailableError: the owner does not start.
    """
    if settings.ENV.milvus_is_remote or _answers():
        yield
        return
    read_end, write_end = os.pipe()
    process = subprocess.Popen(  # noqa: S603 - our own command line
        [sys.executable, "manage.py", "vector_server", "--parent-fd", str(read_end)],
        cwd=settings.BASE_DIR,
        pass_fds=(read_end,),
        stdin=subprocess.DEVNULL,
    )
    try:
        os.close(read_end)
        _wait_for(process)
        yield
    finally:
        os.close(write_end)
        process.wait(STOP_TIMEOUT_S)


def _wait_for(process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while not _answers():
        code = process.poll()
        if code == EXIT_LOCKED:
            raise VectorStoreLockedError(path=settings.ENV.milvus_path)
        if code is not None or time.monotonic() > deadline:
            raise VectorStoreUnavailableError
        time.sleep(POLL_INTERVAL_S)


def _answers() -> bool:
    try:
        vector_store().health()
    except VectorStoreUnavailableError:
        return False
    return True
