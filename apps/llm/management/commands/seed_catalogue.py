"""Puts the catalogue's vendors and models into the database and checks the prices; repeatable."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.llm.endpoints.vendors import load_catalogue
from apps.llm.pricing.catalogue_file import CatalogueError
from apps.llm.pricing.price_table import price_table
from apps.llm.pricing.seeding import seed_catalogue


class Command(BaseCommand):
    """Seed `llm_factory` and `llms` from `llm_catalog.yaml`."""

    help = __doc__
    requires_system_checks = []

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Seed, or say what is wrong with the files, one line per mistake."""
        try:
            price_table()
            seed_catalogue(load_catalogue())
        except CatalogueError as error:
            raise CommandError(str(error)) from None
