"""Money as integer micro-yuan: SQLite stores decimals as floating point, whose sums drift."""

from __future__ import annotations

from decimal import Decimal

from django.db import models

MICRO_PER_YUAN = 1_000_000


class MicroYuanField(models.BigIntegerField):  # type: ignore[type-arg]
    """An amount in micro-yuan (1 CNY = 1,000,000), as an integer."""


def yuan(micro: int) -> Decimal:
    """Return an amount in micro-yuan as CNY with six places."""
    return Decimal(micro).scaleb(-6).quantize(Decimal("0.000001"))
