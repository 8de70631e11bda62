"""The files of the catalogue are right, and a mistake in one is a clear line."""

from datetime import UTC, datetime

import pytest
import yaml
from django.core.management import CommandError, call_command

from apps.llm.pricing.catalogue_file import CatalogueError
from apps.llm.pricing.charges import Charge, Usage, cost_of
from apps.llm.pricing.price_table import PRICES_FILE, load_prices, price_table
from kbqa_project.env import load

GOOD_TIER = {"input": "2", "output": "3"}
GOOD_ENTRY = {"model": "m", "effective_from": "2026-01-01", "source": "x", "tiers": [GOOD_TIER]}


def lines(tmp_path, **parts):
    path = tmp_path / "prices.yaml"
    path.write_text(yaml.safe_dump({"version": "v", "currency": "CNY", **parts}))
    with pytest.raises(CatalogueError) as caught:
        load_prices(path)
    return caught.value.lines


def test_installed_table_prices_the_catalogue_and_names_sources():
    table = price_table()
    assert {entry.model for entry in table.precise} >= {
        "qwen3.5-flash",
        "deepseek-chat",
        "text-embedding-v4",
        "fun-asr-realtime",
    }
    assert all(entry.source for entry in table.precise)
    assert PRICES_FILE.name == "prices.yaml"


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        (
            {"tiers": [GOOD_TIER | {"input": "two"}]},
            "precise.0.tiers.0.input: Input should be a valid decimal",
        ),
        (
            {"tiers": [GOOD_TIER | {"input": 0.2}]},
            "precise.0.tiers.0.input: write the amount in quotes, as a float is not exact",
        ),
        (
            {"tiers": [GOOD_TIER | {"input": "-1"}]},
            "precise.0.tiers.0.input: Input should be greater than or equal to 0",
        ),
        (
            {"tiers": [GOOD_TIER | {"hit": "1"}]},
            "precise.0.tiers.0.hit: Extra inputs are not permitted",
        ),
        ({"tiers": []}, "precise.0: either tiers or per_second must be given"),
        ({"per_second": "1"}, "precise.0: either tiers or per_second must be given"),
        (
            {"tiers": [GOOD_TIER | {"up_to_input_tokens": 5}]},
            "precise.0: the last tier must have no up_to_input_tokens",
        ),
        (
            {
                "tiers": [
                    GOOD_TIER | {"up_to_input_tokens": 9},
                    GOOD_TIER | {"up_to_input_tokens": 5},
                    GOOD_TIER,
                ]
            },
            "precise.0: tiers must be in ascending order of up_to_input_tokens",
        ),
        (
            {"tiers": [GOOD_TIER, GOOD_TIER]},
            "precise.0: tiers must be in ascending order of up_to_input_tokens",
        ),
        ({"source": ""}, "precise.0.source: String should have at least 1 character"),
    ],
)
def test_mistake_in_an_entry_is_one_line_with_its_key(tmp_path, entry, line):
    found = lines(tmp_path, precise=[GOOD_ENTRY | entry])
    assert len(found) == 1
    assert found[0].startswith(f"prices.yaml: {line}")


def test_every_mistake_has_its_own_line(tmp_path):
    rate = {"model": "r", "input": "1", "output": "1", "source": "x"}
    assert lines(
        tmp_path, precise=[GOOD_ENTRY, GOOD_ENTRY], single_rates=[rate, rate], currency="CNY"
    ) == [
        "prices.yaml: precise: m from 2026-01-01 is given twice",
        "prices.yaml: single_rates: r is given twice",
    ]
    assert lines(tmp_path, currency="USD", precise=[{}])[:2] == [
        "prices.yaml: currency: Input should be 'CNY'",
        "prices.yaml: precise.0.model: Field required",
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: [", "is not valid YAML"),
        (None, "is missing"),
        ("version: 2026-02-30", "is not valid YAML"),
    ],
)
def test_unreadable_file_is_one_line(tmp_path, text, line):
    path = tmp_path / "prices.yaml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(CatalogueError, match=rf"^prices.yaml: {line}"):
        load_prices(path)


def test_own_file_replaces_the_table(settings, tmp_path):
    path = tmp_path / "own.yaml"
    rate = {"model": "own", "input": "4", "output": "16", "source": "x"}
    path.write_text(yaml.safe_dump({"version": "o", "currency": "CNY", "single_rates": [rate]}))
    settings.ENV = load(prices_file=path)
    at = datetime(2026, 3, 6, tzinfo=UTC)
    assert cost_of(Usage(10, 1), "own", at) == Charge(56, "single_rate", "o")
    assert cost_of(Usage(1), "deepseek-chat", at) == Charge(None, "unpriced")


@pytest.mark.django_db
def test_mistake_in_the_own_file_is_said_at_the_start(settings, tmp_path):
    settings.ENV = load(prices_file=tmp_path / "own.yaml")
    with pytest.raises(CommandError, match=r"^own.yaml: is missing$"):
        call_command("seed_catalogue")
