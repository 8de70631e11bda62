"""Puts the vendors and models of the catalogue into the database, as often as asked.

Rows that the catalogue does not name are left alone, and so is a row that was soft-deleted on
purpose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from apps.llm.models import LLM, LLMFactory

if TYPE_CHECKING:
    from apps.llm.endpoints.vendors import Catalogue, FactoryEntry


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
