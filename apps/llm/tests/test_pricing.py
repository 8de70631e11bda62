"""Costs are exact, rounded once per call, and never 0 for want of a price."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.llm.pricing.charges import Charge, Usage, cost_of
from apps.llm.pricing.price_table import PreciseEntry, PriceTable, SingleRate, Tier

AT = datetime(2026, 3, 6, tzinfo=UTC)
SOURCE = "test"


def table(*, precise=(), single_rates=()):
    return PriceTable(version="v1", currency="CNY", precise=precise, single_rates=single_rates)


def entry(*tiers, model="m", since=date(2026, 1, 1), **more):
    return PreciseEntry(model=model, effective_from=since, source=SOURCE, tiers=tiers, **more)


CASES = table(precise=[entry(Tier(input="2.0", cached="0.4", output="8.0"))])


@pytest.mark.parametrize(
    ("usage", "micro"),
    [
        (Usage(1000, 50, cached_tokens=640), 1376),
        (Usage(50000), 100_000),
        (Usage(1), 2),
        (Usage(), 0),
        (Usage(5, cached_tokens=5), 2),
    ],
)
def test_cost_of_the_rounding_cases(usage, micro):
    assert cost_of(usage, "m", AT, prices=CASES) == Charge(micro, "custom_pricing", "v1")


@pytest.mark.parametrize(("tokens", "micro"), [(1, 1), (2, 1), (3, 2), (5, 3), (6, 3)])
def test_half_a_micro_yuan_is_rounded_up(tokens, micro):
    prices = table(precise=[entry(Tier(input="0.5", output="0"))])
    assert cost_of(Usage(tokens), "m", AT, prices=prices).cost_micro == micro


def test_parts_are_rounded_together_and_not_each():
    prices = table(precise=[entry(Tier(input="0.3", cached="0.1", output="0.1"))])
    assert cost_of(Usage(2, 1, cached_tokens=1), "m", AT, prices=prices).cost_micro == 1


@pytest.mark.parametrize(
    ("tokens", "micro"),
    [(128_000, 25_600), (128_001, 102_401), (256_000, 204_800), (256_001, 307_201)],
)
def test_tier_of_the_input_length_prices_all_tokens(tokens, micro):
    assert cost_of(Usage(tokens), "qwen3.5-flash", AT).cost_micro == micro


def test_installed_prices_tell_cache_hits_from_misses():
    deepseek = cost_of(Usage(1_000_000, 1_000_000, cached_tokens=400_000), "deepseek-chat", AT)
    assert deepseek == Charge(80_000 + 1_200_000 + 3_000_000, "custom_pricing", "2026-11-30")
    created = Usage(1000, cached_tokens=100, cache_creation_tokens=400)
    assert cost_of(created, "qwen3.5-flash", AT).cost_micro == 100 + 4 + 100
    assert cost_of(Usage(1_000_000), "text-embedding-v4", AT).cost_micro == 500_000


def test_audio_costs_by_the_second():
    usage = Usage(seconds=Decimal("61.5"))
    assert cost_of(usage, "fun-asr-realtime", AT).cost_micro == 20_295


def test_unknown_model_is_unpriced_and_not_free():
    assert cost_of(Usage(1), "unheard-of", AT) == Charge(None, "unpriced")
    assert cost_of(Usage(), "unheard-of", AT) == Charge(None, "unpriced")


def test_model_without_a_precise_entry_takes_its_single_rate():
    rates = [SingleRate(model="m", input="2", output="3", source=SOURCE)]
    prices = table(single_rates=rates)
    usage = Usage(100, 10, cached_tokens=50)
    assert cost_of(usage, "m", AT, prices=prices) == Charge(230, "single_rate", "v1")


def test_precise_entry_goes_before_the_single_rate():
    rates = [SingleRate(model="m", input="9", output="9", source=SOURCE)]
    prices = table(precise=CASES.precise, single_rates=rates)
    assert cost_of(Usage(1), "m", AT, prices=prices) == Charge(2, "custom_pricing", "v1")


def test_call_before_any_price_was_in_force_takes_the_single_rate_or_is_unpriced():
    early = datetime(2025, 12, 31, 23, 59, tzinfo=UTC)
    assert cost_of(Usage(1), "m", early, prices=CASES) == Charge(None, "unpriced")
    rates = [SingleRate(model="m", input="9", output="9", source=SOURCE)]
    prices = table(precise=CASES.precise, single_rates=rates)
    assert cost_of(Usage(1), "m", early, prices=prices) == Charge(9, "single_rate", "v1")


def test_latest_price_in_force_counts_whatever_the_order_and_time_zone():
    changed = date(2026, 3, 1)
    prices = table(
        precise=[
            entry(Tier(input="5", output="0"), since=changed),
            entry(Tier(input="2", output="0")),
        ]
    )
    shanghai = timezone(timedelta(hours=8))
    before = datetime(2026, 3, 1, 7, 59, tzinfo=shanghai)  # still February in UTC
    after = datetime(2026, 3, 1, 8, 0, tzinfo=shanghai)
    assert cost_of(Usage(1), "m", before, prices=prices).cost_micro == 2
    assert cost_of(Usage(1), "m", after, prices=prices).cost_micro == 5


def test_estimated_usage_is_marked():
    usage = Usage(10, is_estimated=True)
    assert cost_of(usage, "m", AT, prices=CASES) == Charge(20, "estimated", "v1")
    assert cost_of(usage, "other", AT, prices=CASES) == Charge(None, "unpriced")


AMOUNTS = st.decimals(0, 1000, places=5)
USAGES = st.builds(
    lambda cached, created, missed, out: Usage(cached + created + missed, out, cached, created),
    *[st.integers(0, 10**6)] * 4,
)


@given(USAGES, AMOUNTS, AMOUNTS, AMOUNTS, AMOUNTS)
def test_cost_is_the_exact_sum_rounded_half_up(usage, price, cached, creation, output):
    tier = Tier(input=price, cached=cached, cache_creation=creation, output=output)
    missed = usage.input_tokens - usage.cached_tokens - usage.cache_creation_tokens
    exact = (
        missed * Fraction(price)
        + usage.cached_tokens * Fraction(cached)
        + usage.cache_creation_tokens * Fraction(creation)
        + usage.output_tokens * Fraction(output)
    )
    charge = cost_of(usage, "m", AT, prices=table(precise=[entry(tier)]))
    assert charge.cost_micro == (exact + Fraction(1, 2)) // 1


@given(USAGES, USAGES)
def test_more_tokens_never_cost_less(usage, more):
    both = Usage(
        usage.input_tokens + more.input_tokens,
        usage.output_tokens + more.output_tokens,
        usage.cached_tokens + more.cached_tokens,
        usage.cache_creation_tokens + more.cache_creation_tokens,
    )
    costs = [cost_of(u, "deepseek-chat", AT).cost_micro for u in (usage, both)]
    assert costs == sorted(costs)
