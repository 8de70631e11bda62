"""The vendors and models of `llm_catalog.yaml`: their forms, and who serves where or what.

Knows no database, so that it can be asked before Django is ready.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Self
from urllib.parse import urlsplit

from pydantic import AnyHttpUrl, Field, model_validator

from apps.llm.pricing.catalogue_file import CATALOGUE_DIR, CatalogueModel, read_catalogue

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


def vendor_of(base_url: str | None) -> str:
    """Return the catalogue's vendor that serves at this address, or else the address's host."""
    host = urlsplit(base_url or "").hostname or ""
    return _vendors_by_host().get(host, host)


def vendor_of_model(model: str) -> str | None:
    """Return the catalogue's vendor of a model, or None."""
    return next((m.factory_id for m in _catalogue().llms if m.model_code == model), None)


def request_url(vendor: str) -> str | None:
    """Return the address of a vendor of the catalogue, or None."""
    urls = (str(f.request_url) for f in _catalogue().factories if f.name == vendor)
    return next(urls, None)


@lru_cache(maxsize=1)
def _catalogue() -> Catalogue:
    return load_catalogue()


@lru_cache(maxsize=1)
def _vendors_by_host() -> dict[str, str]:
    factories = _catalogue().factories
    return {factory.request_url.host or "": factory.name for factory in factories}


def _repeated(names: Iterable[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]
