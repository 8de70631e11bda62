"""Estimates how many tokens a text has, for calls whose vendor does not say (pure).

The vendors' tokenizers cannot be had offline. DeepSeek's documentation gives these rates
(api-docs.deepseek.com/zh-cn/quick_start/token_usage): 0.6 tokens a Chinese character, 0.3 an
English one. What is neither counts as a whole token, which rather overstates a cost.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

TENTHS_PER_CJK = 6
TENTHS_PER_ASCII = 3
TENTHS_PER_OTHER = 10
TOKENS_PER_MESSAGE = 4  # the frame around a message: role and separators

_CJK = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")
_ASCII = re.compile(r"[\x00-\x7f]")


def estimated_tokens(text: str) -> int:
    """Return about how many tokens a text has, rounded up; 0 for an empty one."""
    cjk, ascii_ = len(_CJK.findall(text)), len(_ASCII.findall(text))
    other = len(text) - cjk - ascii_
    tenths = cjk * TENTHS_PER_CJK + ascii_ * TENTHS_PER_ASCII + other * TENTHS_PER_OTHER
    return math.ceil(tenths / 10)


def estimated_prompt_tokens(texts: Iterable[str]) -> int:
    """Return about how many tokens the messages of a prompt have together."""
    return sum(estimated_tokens(text) + TOKENS_PER_MESSAGE for text in texts)
