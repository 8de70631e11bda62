"""The catalogue of vendors and models (000): a copy of its file, for the admin to show."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


class CatalogueRow(models.Model):
    """What both tables share: key, times and the mark of a soft deletion."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    deleted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True


class LLMFactory(CatalogueRow):
    """A vendor of models."""

    name = models.CharField(max_length=50, unique=True)
    request_url = models.CharField(max_length=255)
    avatar = models.CharField(max_length=255, null=True, blank=True)

    class Meta:
        db_table = "llm_factory"
        verbose_name = pgettext_lazy("one", "模型厂商")
        verbose_name_plural = _("模型厂商")

    def __str__(self) -> str:
        return self.name


class LLM(CatalogueRow):
    """A model of a vendor."""

    factory = models.ForeignKey(LLMFactory, on_delete=models.PROTECT, related_name="llms")
    model_code = models.CharField(max_length=50, unique=True)

    class Meta:
        db_table = "llms"
        verbose_name = pgettext_lazy("one", "模型")
        verbose_name_plural = _("模型")

    def __str__(self) -> str:
        return self.model_code
