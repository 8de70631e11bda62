"""What a call consumed, read from the usage objects of the vendors; prices nothing (pure).

Sources of the field names: api-docs.deepseek.com (prompt_cache_hit_tokens),
help.aliyun.com/zh/model-studio context-cache (prompt_tokens_details), platform.moonshot.cn
(cached_tokens), platform.openai.com (completion_tokens_details).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from typing import Any

MAX_TOKENS = 10**9  # of one call; a larger count is a defect of the endpoint
MAX_FIELDS = 40
MAX_FIELD_CHARS = 100
MAX_DEPTH = 3


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call, and seconds of audio.

    `cached_tokens` and `cache_creation_tokens` are parts of `input_tokens`, `reasoning_tokens` is
    a part of `output_tokens`. `is_estimated` says that the vendor did not report the counts.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cache_creation_tokens: int = 0
    reasoning_tokens: int = 0
    seconds: Decimal = Decimal(0)
    is_estimated: bool = False


def usage_of(raw: object, *, has_output: bool = True) -> Usage | None:
    """Return the usage that a vendor reported, or None when it reported none that makes sense.

    Calls without output (embeddings) may be reported by their total alone.
    """
    if not isinstance(raw, Mapping):
        return None
    if not has_output:
        tokens = _first(_count(raw, "prompt_tokens"), _count(raw, "total_tokens"))
        return None if tokens is None else Usage(tokens)
    hit, miss = _count(raw, "prompt_cache_hit_tokens"), _count(raw, "prompt_cache_miss_tokens")
    given = _first(_count(raw, "prompt_tokens"), _sum(hit, miss), _count(raw, "input_tokens"))
    total, written = (
        _count(raw, "total_tokens"),
        _first(_count(raw, "completion_tokens"), _count(raw, "output_tokens")),
    )
    if written is None and given is not None and total is not None:
        written = max(0, total - given)
    if given is None or written is None:
        return None
    cached, created = _cache_counts(raw)
    cached = min(_first(hit, cached) or 0, given)
    reasoning = _count(raw.get("completion_tokens_details"), "reasoning_tokens") or 0
    return Usage(
        input_tokens=given,
        output_tokens=written,
        cached_tokens=cached,
        cache_creation_tokens=min(created, given - cached),
        reasoning_tokens=min(reasoning, written),
    )


def kept_usage(raw: object, *, depth: int = MAX_DEPTH) -> dict[str, Any] | None:
    """Return what may be stored of a vendor's usage object: bounded, without None and NaN."""
    if not isinstance(raw, Mapping) or not depth:
        return None
    fields = {
        str(name)[:MAX_FIELD_CHARS]: _kept(value, depth)
        for name, value in islice(raw.items(), MAX_FIELDS)
    }
    return {name: value for name, value in fields.items() if value is not None} or None


def _kept(value: object, depth: int) -> object:
    if isinstance(value, Mapping):
        return kept_usage(value, depth=depth - 1)
    if isinstance(value, str):
        return value[:MAX_FIELD_CHARS]
    if isinstance(value, int):
        return value if abs(value) <= MAX_TOKENS else None
    return value if isinstance(value, float) and math.isfinite(value) else None


def _cache_counts(raw: Mapping[str, object]) -> tuple[int | None, int]:
    """Return the tokens read from and written to a cache, as Qwen, Moonshot and OpenAI say it."""
    details = raw.get("prompt_tokens_details")
    cached = _first(_count(details, "cached_tokens"), _count(raw, "cached_tokens"))
    created = _first(
        _count(details, "cache_creation_input_tokens"), _count(raw, "cache_creation_input_tokens")
    )
    return cached, created or 0


def _count(holder: object, name: str) -> int | None:
    value = holder.get(name) if isinstance(holder, Mapping) else None
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= MAX_TOKENS else None


def _first(*counts: int | None) -> int | None:
    return next((count for count in counts if count is not None), None)


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second
