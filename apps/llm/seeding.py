"""Puts the vendors and models of `llm_catalog.yaml` into the database, as often as asked.

Rows that the file does not name are left alone, and so is a row that was soft-deleted on purpose.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Self
from urllib.parse import urlsplit

from django.db import transaction
from pydantic import AnyHttpUrl, Field, model_validator

from apps.llm.catalogue_file import CATALOGUE_DIR, CatalogueModel, read_catalogue
from apps.llm.models import LLM, LLMFactory

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

CATALOGUE_FILE = CATALOGUE_DIR / "llm_catalog.yaml"

Name = Annotated[str, Field(min_length=1, max_length=50)]


class FactoryEntry(CatalogueModel):
    """A vendor: the address of its OpenAI-compatible interface and of its picture."""

    name: Name
    request_url: Annotated[AnyHttpUrl, Field(max_length=255)]
    avatar: Annotated[AnyHttpUrl, Field(max_length=255)] | None = None


class ModelEntry(CatalogueModel):
    """A model; `factory_id` is the name of its vendor."""

    model_code: Name
    factory_id: Name


class Catalogue(CatalogueModel):
    """The whole file."""

    factories: tuple[FactoryEntry, ...]
    llms: tuple[ModelEntry, ...]

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        names = [factory.name for factory in self.factories]
        codes = [model.model_code for model in self.llms]
        mistakes = [f"factories: {name} is named twice" for name in _repeated(names)]
        mistakes += [f"llms: {code} is named twice" for code in _repeated(codes)]
        mistakes += [
            f"llms: {model.model_code}: unknown factory {model.factory_id}"
            for model in self.llms
            if model.factory_id not in names
        ]
        if mistakes:
            raise ValueError("\n".join(mistakes))
        return self


def load_catalogue(path: Path = CATALOGUE_FILE) -> Catalogue:
    """Return the validated catalogue.

    Raises:
        CatalogueError: one line per mistake.
    """
    return read_catalogue(path, Catalogue)


@transaction.atomic
def seed_catalogue(catalogue: Catalogue) -> None:
    """Insert what is missing and correct what differs; a second time changes nothing."""
    vendors = {entry.name: _seeded_vendor(entry) for entry in catalogue.factories}
    for entry in catalogue.llms:
        vendor = vendors[entry.factory_id]
        model, _ = LLM.objects.get_or_create(
            model_code=entry.model_code, defaults={"factory": vendor}
        )
        if model.factory_id != vendor.id:
            model.factory = vendor
            model.save(update_fields=["factory", "updated_at"])


def vendor_of(base_url: str | None) -> str:
    """Return the catalogue's vendor that serves at this address, or else the address's host."""
    host = urlsplit(base_url or "").hostname or ""
    return _vendors_by_host().get(host, host)


@lru_cache(maxsize=1)
def _vendors_by_host() -> dict[str, str]:
    factories = load_catalogue().factories
    return {factory.request_url.host or "": factory.name for factory in factories}


def _seeded_vendor(entry: FactoryEntry) -> LLMFactory:
    wanted = {
        "request_url": str(entry.request_url),
        "avatar": str(entry.avatar) if entry.avatar else None,
    }
    vendor, _ = LLMFactory.objects.get_or_create(name=entry.name, defaults=wanted)
    changed = [field for field, value in wanted.items() if getattr(vendor, field) != value]
    if changed:
        for field in changed:
            setattr(vendor, field, wanted[field])
        vendor.save(update_fields=[*changed, "updated_at"])
    return vendor


def _repeated(names: Iterable[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]
