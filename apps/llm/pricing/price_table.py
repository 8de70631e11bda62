"""The table of prices: read from `prices.yaml`, checked, and asked for the price of a call.

Amounts are exact decimals. A price that nobody knows is None, never 0.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Literal, Self

from django.conf import settings
from pydantic import BeforeValidator, Field, model_validator

from apps.llm.pricing.catalogue_file import CATALOGUE_DIR, CatalogueModel, read_catalogue

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

PRICES_FILE = CATALOGUE_DIR / "prices.yaml"
MAX_PRICE = Decimal(1_000_000)


def _refuse_float(value: object) -> object:
    if isinstance(value, float):
        raise ValueError("write the amount in quotes, as a float is not exact")
    return value


Amount = Annotated[
    Decimal,
    BeforeValidator(_refuse_float),
    Field(ge=0, le=MAX_PRICE, allow_inf_nan=False),
]
Code = Annotated[str, Field(min_length=1, max_length=50)]
Source = Annotated[str, Field(min_length=1)]


class Tier(CatalogueModel):
    """Prices of calls with at most so many input tokens; the last tier has no limit."""

    up_to_input_tokens: Annotated[int, Field(gt=0)] | None = None
    input: Amount
    output: Amount
    cached: Amount | None = None
    cache_creation: Amount | None = None

    @property
    def cached_price(self) -> Decimal:
        """The price of tokens read from the vendor's cache."""
        return self.input if self.cached is None else self.cached

    @property
    def creation_price(self) -> Decimal:
        """The price of tokens written to the vendor's cache."""
        return self.input if self.cache_creation is None else self.cache_creation


class PreciseEntry(CatalogueModel):
    """A model's prices from a day on (in UTC): by tokens in tiers, or by seconds of audio."""

    model: Code
    effective_from: date
    source: Source
    tiers: tuple[Tier, ...] = ()
    per_second: Amount | None = None

    @model_validator(mode="after")
    def _check_tiers(self) -> Self:
        if bool(self.tiers) == (self.per_second is not None):
            raise ValueError("either tiers or per_second must be given")
        limits = [tier.up_to_input_tokens for tier in self.tiers]
        if limits and limits[-1] is not None:
            raise ValueError("the last tier must have no up_to_input_tokens")
        bounded = [limit for limit in limits[:-1] if limit is not None]
        if len(bounded) != len(limits[:-1]) or any(a >= b for a, b in pairwise(bounded)):
            raise ValueError("tiers must be in ascending order of up_to_input_tokens")
        return self

    def tier(self, input_tokens: int) -> Tier | None:
        """Return the tier of a call with so many input tokens; None for prices by the second."""
        return next((tier for tier in self.tiers if _fits(tier, input_tokens)), None)


class SingleRate(CatalogueModel):
    """One input and one output price of a model."""

    model: Code
    input: Amount
    output: Amount
    source: Source


class PriceTable(CatalogueModel):
    """All prices; `version` is kept with every call that they were applied to."""

    version: Annotated[str, Field(min_length=1, max_length=32)]
    currency: Literal["CNY"]
    precise: tuple[PreciseEntry, ...] = ()
    single_rates: tuple[SingleRate, ...] = ()

    @model_validator(mode="after")
    def _check_unique(self) -> Self:
        keys = [f"{entry.model} from {entry.effective_from}" for entry in self.precise]
        mistakes = [f"precise: {key} is given twice" for key in _repeated(keys)]
        rates = [rate.model for rate in self.single_rates]
        mistakes += [f"single_rates: {model} is given twice" for model in _repeated(rates)]
        if mistakes:
            raise ValueError("\n".join(mistakes))
        return self

    def precise_entry(self, model: str, at: datetime) -> PreciseEntry | None:
        """Return the latest entry of a model that is in force at a moment."""
        day = at.astimezone(UTC).date()
        known = [e for e in self.precise if e.model == model and e.effective_from <= day]
        return max(known, key=lambda entry: entry.effective_from, default=None)

    def single_rate(self, model: str) -> SingleRate | None:
        """Return a model's single rate."""
        return next((rate for rate in self.single_rates if rate.model == model), None)


def load_prices(path: Path = PRICES_FILE) -> PriceTable:
    """Return the validated table.

    Raises:
        CatalogueError: one line per mistake.
    """
    return read_catalogue(path, PriceTable)


def price_table() -> PriceTable:
    """Return the table of this installation, loaded once: KBQA_PRICES_FILE or our own."""
    return _loaded(settings.ENV.prices_file or PRICES_FILE)


@lru_cache(maxsize=2)
def _loaded(path: Path) -> PriceTable:
    return load_prices(path)


def _fits(tier: Tier, input_tokens: int) -> bool:
    return tier.up_to_input_tokens is None or input_tokens <= tier.up_to_input_tokens


def _repeated(keys: Iterable[str]) -> list[str]:
    listed = list(keys)
    return sorted({key for key in listed if listed.count(key) > 1})
