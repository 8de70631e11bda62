"""Counts a person's documents by what questions can get from them. Loads no document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Count

from apps.documents.models import Document, DocumentStatus

if TYPE_CHECKING:
    from apps.accounts.models import User


@dataclass(frozen=True, slots=True)
class Holdings:
    """How many documents can be searched, will be, and cannot be."""

    indexed: int
    unfinished: int
    failed: int

    @property
    def is_unsearchable(self) -> bool:
        """Whether there are documents, but none that can be searched."""
        return not self.indexed and bool(self.unfinished or self.failed)


def holdings_of(owner: User) -> Holdings:
    """Return the counts of one person's documents, with one query."""
    rows = Document.objects.of(owner).order_by().values_list("status")
    counts = dict(rows.annotate(n=Count("id")))
    return Holdings(
        indexed=counts.get(DocumentStatus.INDEXED, 0),
        unfinished=counts.get(DocumentStatus.PENDING, 0) + counts.get(DocumentStatus.INDEXING, 0),
        failed=counts.get(DocumentStatus.FAILED, 0),
    )
