"""The usage objects of the vendors become one form; nonsense counts as not reported."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.llm.pricing.usage import Usage, kept_usage, usage_of

BASE = {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050}


@pytest.mark.parametrize(
    ("raw", "usage"),
    [
        (BASE, Usage(1000, 50)),
        (
            BASE | {"prompt_cache_hit_tokens": 640, "prompt_cache_miss_tokens": 360},
            Usage(1000, 50, cached_tokens=640),
        ),
        (
            {
                "prompt_cache_hit_tokens": 640,
                "prompt_cache_miss_tokens": 360,
                "completion_tokens": 50,
            },
            Usage(1000, 50, cached_tokens=640),
        ),
        (BASE | {"prompt_tokens_details": {"cached_tokens": 256}}, Usage(1000, 50, 256)),
        (
            BASE
            | {"prompt_tokens_details": {"cached_tokens": 0, "cache_creation_input_tokens": 600}},
            Usage(1000, 50, cache_creation_tokens=600),
        ),
        (BASE | {"cached_tokens": 128}, Usage(1000, 50, 128)),
        (
            BASE | {"completion_tokens_details": {"reasoning_tokens": 40}},
            Usage(1000, 50, reasoning_tokens=40),
        ),
        ({"prompt_tokens": 7, "total_tokens": 9}, Usage(7, 2)),
        ({"input_tokens": 7, "output_tokens": 2}, Usage(7, 2)),
        (BASE | {"prompt_tokens_details": None, "cached_tokens": 5000}, Usage(1000, 50, 1000)),
        (None, None),
        ({}, None),
        ([1], None),
        ({"prompt_tokens": -1, "completion_tokens": 2}, None),
        ({"prompt_tokens": True, "completion_tokens": 2}, None),
        ({"prompt_tokens": "12", "completion_tokens": 2}, None),
        ({"prompt_tokens": 10**12, "completion_tokens": 2}, None),
        ({"completion_tokens": 2}, None),
    ],
)
def test_usage_of_each_vendor_is_read(raw, usage):
    assert usage_of(raw) == usage


NAMES = [
    "prompt_tokens", "completion_tokens", "total_tokens", "prompt_cache_hit_tokens",
    "prompt_cache_miss_tokens", "cached_tokens", "cache_creation_input_tokens", "input_tokens",
]  # fmt: skip
COUNTS = st.one_of(st.none(), st.integers(-5, 2000), st.text(max_size=3), st.booleans())
OBJECTS = st.dictionaries(st.sampled_from(NAMES), COUNTS)


@given(OBJECTS, OBJECTS)
def test_parts_never_exceed_the_whole(raw, details):
    usage = usage_of(raw | {"prompt_tokens_details": details})
    if usage is not None:
        assert usage.cached_tokens >= 0
        assert usage.cache_creation_tokens >= 0
        assert usage.output_tokens >= 0
        assert usage.cached_tokens + usage.cache_creation_tokens <= usage.input_tokens


def test_kept_usage_is_bounded_and_can_be_stored():
    deep = {"a": {"b": {"c": {"d": 1}}}}
    raw = {
        "n": 1,
        "none": None,
        "nan": float("nan"),
        "huge": 10**400,
        "list": [1],
        "text": "x" * 500,
        **deep,
    }
    assert kept_usage(raw) == {"n": 1, "text": "x" * 100}
    assert kept_usage({"details": {"cached": 3, "audio": None}}) == {"details": {"cached": 3}}
    assert len(kept_usage({str(n): n for n in range(1000)}) or {}) == 40
    assert kept_usage([1]) is None
