"""Settles what a crash left behind in SQLite and among the files; the worker does the rest."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from apps.documents.indexing.index_definition import outdated
from apps.documents.indexing.recovery import recover


class Command(BaseCommand):
    """Queue interrupted jobs again and say when the index does not fit the configuration."""

    help = __doc__
    requires_system_checks = []

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Recover; needs neither the vector store nor a model."""
        recover()
        error = outdated()
        if error is not None:
            self.stderr.write(error.text)
