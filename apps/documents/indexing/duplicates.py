"""Tells documents with the same content: a file may be uploaded twice, but the person is told.

A twin is an earlier document of the same person with the same SHA-256 of the whole file. Other
people's documents never count, so that nobody learns what others have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from apps.documents.models import Document
from apps.documents.warnings import SAME_CONTENT

if TYPE_CHECKING:
    from uuid import UUID


def twin_warnings(document: Document) -> list[dict[str, object]]:
    """Return the warning that names the oldest twin, none without a twin."""
    same = Document.objects.filter(owner=document.owner_id, sha256=document.sha256).listed()
    oldest = same.order_by("created_at", "id").first()
    if oldest is None or oldest.pk == document.pk:
        return []
    return [{"code": SAME_CONTENT, "document_id": str(oldest.pk), "filename": oldest.filename}]


def forget_twin(document_id: UUID, *, owner_id: UUID, sha256: str) -> None:
    """Renew the warnings that name a document which is gone."""
    with transaction.atomic():
        for other in Document.objects.filter(owner=owner_id, sha256=sha256).listed():
            kept = [w for w in other.warnings if w.get("document_id") != str(document_id)]
            if kept != other.warnings:
                Document.objects.filter(pk=other.pk).update(
                    warnings=[*twin_warnings(other), *kept]
                )
