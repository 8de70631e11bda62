"""The system check of the catalogue of vendors and models and of the prices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.checks import Error
from django.core.checks import register as register_check

from apps.core.processes.configuration import CONFIGURATION
from apps.llm.endpoints import vendors
from apps.llm.pricing import price_table
from apps.llm.pricing.catalogue_file import CatalogueError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CODE = "llm.E001"


def register() -> None:
    """Make `manage.py check` and every start of the server look at catalogue and prices."""
    register_check(check_catalogue, CONFIGURATION)


def check_catalogue(**_options: Any) -> list[Error]:
    """Return one error per mistake in the two files."""
    prices = settings.ENV.prices_file or price_table.PRICES_FILE
    return [
        *_mistakes(vendors.load_catalogue, vendors.CATALOGUE_FILE),
        *_mistakes(price_table.load_prices, prices),
    ]


def _mistakes(load: Callable[[Path], object], path: Path) -> list[Error]:
    try:
        load(path)
    except CatalogueError as error:
        return [Error(line, id=CODE) for line in error.lines]
    return []
