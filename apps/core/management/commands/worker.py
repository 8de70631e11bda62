"""manage.py worker: the consumer of the task queue, alone on its data folder, with a heartbeat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.management.base import CommandError
from huey.contrib.djhuey.management.commands import run_huey

from apps.core.processes.heartbeat import start_heartbeat
from apps.core.processes.instance_lock import take_lock
from apps.core.processes.parent_watch import add_parent_argument, watch_parent

if TYPE_CHECKING:
    from argparse import ArgumentParser

PREDECESSOR_S = 5.0


class Command(run_huey.Command):  # type: ignore[misc]  # Huey has no types
    """Run tasks until SIGTERM; whatever runs then is found again by its job row."""

    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare Huey's options and the parent's pipe."""
        super().add_arguments(parser)
        add_parent_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Take the queue for this process and consume it.

        Raises:
            CommandError: when another worker serves this data folder.
        """
        watch_parent(options.pop("parent_fd"))
        if take_lock(settings.DATA_DIR / "worker.lock", wait_s=PREDECESSOR_S) is None:
            raise CommandError("another worker serves this data folder")
        start_heartbeat(settings.WORKER_HEARTBEAT)
        super().handle(*args, **options)
