"""What a call costs: usage and model in, micro-yuan out (pure).

One rounding per call, half up (002: local table first, then the single rate, never a conversion of
currencies). What has no price costs None, which is not 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Literal

from apps.llm.pricing.price_table import PriceTable, price_table
from apps.llm.pricing.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from apps.llm.pricing.price_table import PreciseEntry

__all__ = ["EMBEDDED_CHARGE", "Charge", "CostSource", "Usage", "cost_of", "least_certain"]

CostSource = Literal["custom_pricing", "single_rate", "estimated", "unpriced", "embedded"]
LEAST_CERTAIN_FIRST: tuple[CostSource, ...] = (
    "unpriced",
    "estimated",
    "single_rate",
    "custom_pricing",
    "embedded",
)

MICRO_PER_YUAN = 1_000_000  # yuan per million tokens are micro-yuan per token: no factor there


@dataclass(frozen=True, slots=True)
class Charge:
    """What one call costs in micro-yuan, by which rule and by which version of the prices."""

    cost_micro: int | None
    cost_source: CostSource
    price_version: str | None = None


EMBEDDED_CHARGE = Charge(0, "embedded")


def cost_of(usage: Usage, model: str, at: datetime, *, prices: PriceTable | None = None) -> Charge:
    """Return what a call that began at `at` costs; `prices` are this installation's by default."""
    table = price_table() if prices is None else prices
    exact, source = _exact(usage, model, at, table)
    if exact is None:
        return Charge(None, "unpriced")
    micro = int(exact.quantize(Decimal(1), rounding=ROUND_HALF_UP))
    return Charge(micro, "estimated" if usage.is_estimated else source, table.version)


def least_certain(sources: Iterable[str]) -> CostSource:
    """Return the source that a sum of costs is marked with; without any cost that is embedded."""
    known = set(sources)
    return next((source for source in LEAST_CERTAIN_FIRST if source in known), "embedded")


def _exact(
    usage: Usage, model: str, at: datetime, table: PriceTable
) -> tuple[Decimal | None, CostSource]:
    entry = table.precise_entry(model, at)
    precise = None if entry is None else _precise(usage, entry)
    if precise is not None:
        return precise, "custom_pricing"
    rate = table.single_rate(model)
    if rate is None:
        return None, "unpriced"
    return usage.input_tokens * rate.input + usage.output_tokens * rate.output, "single_rate"


def _precise(usage: Usage, entry: PreciseEntry) -> Decimal | None:
    if entry.per_second is not None:
        return usage.seconds * entry.per_second * MICRO_PER_YUAN
    tier = entry.tier(usage.input_tokens)
    if tier is None:
        return None
    missed = usage.input_tokens - usage.cached_tokens - usage.cache_creation_tokens
    return (
        missed * tier.input
        + usage.cached_tokens * tier.cached_price
        + usage.cache_creation_tokens * tier.creation_price
        + usage.output_tokens * tier.output
    )
