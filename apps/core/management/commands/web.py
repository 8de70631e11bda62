"""manage.py web: daphne for pages, streams and API; `prepare` must have run before."""

from __future__ import annotations

import gc
import logging
import threading
from importlib import import_module
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import connection
from django.utils.module_loading import import_string

from apps.core.processes.configuration import refuse_wrong_configuration
from apps.core.processes.parent_watch import add_parent_argument, watch_parent

if TYPE_CHECKING:
    from argparse import ArgumentParser

logger = logging.getLogger(__name__)

DEFAULT_ENDPOINT = r"tcp:port=8000:interface=127.0.0.1"


class Command(BaseCommand):
    """Serve HTTP until SIGTERM."""

    help = "Run the web process alone."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare where to listen and the parent's pipe."""
        parser.add_argument("--endpoint", default=DEFAULT_ENDPOINT, help="in Twisted's notation")
        add_parent_argument(parser)

    def handle(self, *_args: Any, **options: Any) -> None:
        """Serve, and warm the models up meanwhile.

        Raises:
            CommandError: when a configuration file is wrong.
            SystemExit: when the endpoint cannot be listened on.
        """
        from daphne.server import Server  # noqa: PLC0415 - Twisted, wanted by this command only

        from apps.core.web.body_requests import leave_bodies_to_django  # noqa: PLC0415 - as above

        watch_parent(options["parent_fd"])
        refuse_wrong_configuration()
        leave_bodies_to_django()
        import_module(settings.ROOT_URLCONF)  # a fault in it ends the start, not each request
        # Kept open and unused: SQLite empties its log whenever the last connection is closed.
        connection.ensure_connection()
        server = Server(
            import_string(settings.ASGI_APPLICATION),
            endpoints=[options["endpoint"]],
            server_name="",
            verbosity=0,
            ready_callable=start_warm_up,
        )
        server.run()
        if server.abort_start:
            raise SystemExit(1)


def start_warm_up() -> None:
    """Load in the background what the first question needs; /health does not wait for it."""
    threading.Thread(target=_warm_up, name="warm-up", daemon=True).start()


def _warm_up() -> None:
    for name in settings.WARM_UP:
        try:
            import_string(name)()
        except Exception:
            logger.exception("warm-up failed in %s", name)
    # What is loaded now stays: the collector need not look through it during an answer.
    gc.collect()
    gc.freeze()
