"""Runs the owner of the local vector folder; the supervisor starts it."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from apps.core.processes.parent_watch import add_parent_argument, watch_parent
from apps.documents.errors import VectorStoreLockedError
from apps.documents.vectors.local_folder import LocalFolder
from apps.documents.vectors.owner import EXIT_LOCKED
from apps.documents.vectors.server import VectorServer
from apps.documents.vectors.wire import auth_key, socket_path

if TYPE_CHECKING:
    from argparse import ArgumentParser

logger = logging.getLogger(__name__)

EXIT_DEADLINE_S = 2.8  # the supervisor kills after 3 s; what was acknowledged is in the log


class Command(BaseCommand):
    """Serve the local vector folder on a private socket until SIGTERM or the parent's end."""

    help = __doc__
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add `--parent-fd`."""
        add_parent_argument(parser)

    def handle(self, *_args: Any, parent_fd: int | None = None, **_options: Any) -> None:
        """Serve; exit code 3 when another process holds the folder."""
        if settings.ENV.milvus_is_remote:
            raise CommandError("KBQA_MILVUS_URI names a cluster: there is no folder to serve.")
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        watch_parent(parent_fd)
        try:
            folder = LocalFolder(settings.ENV.milvus_path)
        except VectorStoreLockedError as error:
            self.stderr.write(error.text)
            sys.exit(EXIT_LOCKED)
        _serve(VectorServer(folder, socket_path(), key=auth_key()), stop)


def _serve(server: VectorServer, stop: threading.Event) -> None:
    failed = threading.Event()

    def load() -> None:
        try:
            server.load()
        except Exception:
            logger.exception("the vector folder cannot be loaded")
            failed.set()
            stop.set()

    server.start()
    threading.Thread(target=load, name="vectors-load", daemon=True).start()
    stop.wait()
    hurry = threading.Timer(EXIT_DEADLINE_S, os._exit, args=(int(failed.is_set()),))
    hurry.daemon = True
    hurry.start()
    server.close()
    if failed.is_set():
        sys.exit(1)
