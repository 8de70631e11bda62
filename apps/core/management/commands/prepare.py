"""manage.py prepare: bring the database up to date and settle what an earlier run left behind.

Runs before each start of the web process and refuses wrong configuration files first. It does not
wait for the vector store: whatever needs it is settled by the worker.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from apps.core.processes.configuration import refuse_wrong_configuration
from apps.core.processes.parent_watch import add_parent_argument, watch_parent
from apps.core.processes.queue_file import set_damaged_queue_aside

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):
    """Migrate and recover."""

    help = "Migrate the database and settle what an earlier run left unfinished."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the parent's pipe."""
        add_parent_argument(parser)

    def handle(self, *_args: Any, **options: Any) -> None:
        """Run the migrations that are due, then the recovery commands of the apps."""
        watch_parent(options["parent_fd"])
        refuse_wrong_configuration()
        set_damaged_queue_aside(Path(str(settings.HUEY["filename"])))
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            call_command("migrate", verbosity=0, interactive=False, skip_checks=True)
        for name in settings.RECOVERY_COMMANDS:
            call_command(name)
