"""Refuses to start on wrong configuration files.

Each app checks its own files and registers the check under the tag `CONFIGURATION`, so that
`manage.py check` reports the same mistakes. A check must be quick: it runs before each start.
"""

from __future__ import annotations

from django.core.checks import ERROR, run_checks
from django.core.management.base import CommandError

CONFIGURATION = "configuration"


def refuse_wrong_configuration() -> None:
    """Return when all configuration files are valid.

    Raises:
        CommandError: one line per mistake, with file and key.
    """
    found = run_checks(tags=[CONFIGURATION])
    mistakes = [str(message.msg) for message in found if message.is_serious(ERROR)]
    if mistakes:
        raise CommandError("\n".join(mistakes))
