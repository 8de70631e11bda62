"""`manage.py recover_chat`: end the answers that a dead web process left unfinished."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.core.management.base import BaseCommand

from apps.chat.turns.endings import recover_runs

if TYPE_CHECKING:
    from typing import Any


class Command(BaseCommand):
    """Runs before each start of the web process; harmless to repeat."""

    help = "Mark answers that were interrupted by a crash as failed."

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Recover and tell how many answers were interrupted, if any."""
        count = recover_runs()
        if count:
            self.stdout.write(f"{count} interrupted answers marked as failed")
