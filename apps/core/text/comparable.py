"""Text as it is searched, embedded and read: what changes nothing for a reader is gone.

What is stored and shown keeps it: spans point into the source, sources stand as written.
"""

from __future__ import annotations

import re
from functools import cache

import regex
from opencc import OpenCC

# Scripts whose letters need no joiner to take their form; others (Arabic, Indic …) keep it.
_UNJOINED = "".join(
    rf"\p{{{script}}}"
    for script in (
        *("Latin", "Greek", "Cyrillic", "Armenian", "Georgian", "Hebrew", "Thai", "Lao"),
        *("Han", "Hiragana", "Katakana", "Hangul", "Bopomofo"),
    )
)
# Invisible characters as Unicode lists them (Default_Ignorable_Code_Point), but those that form
# an emoji, a keycap or a flag, and those that form a letter.
_INVISIBLE = regex.compile(
    r"(?!(?<=\p{Extended_Pictographic})[\ufe0e\ufe0f]"
    r"|(?<=[0-9#*])\ufe0f(?=\u20e3)"
    r"|(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d(?=\p{Extended_Pictographic})"
    r"|(?<=[\U0001f3f4\U000e0020-\U000e007e])[\U000e0020-\U000e007f]"
    rf"|(?<=[[\p{{L}}\p{{M}}]--[{_UNJOINED}\p{{Inherited}}]])[\u200c\u200d\u180b-\u180f]"
    r"|(?<=[\u064b-\u065f\u0670])[\u200c\u200d])"  # after an Arabic vowel sign
    r"\p{Default_Ignorable_Code_Point}",
    regex.VERSION1,
)


_KANA = re.compile("[\u3041-\u30ff]")  # Japanese writes characters that only look traditional


def comparable(text: str) -> str:
    """Return `text` without invisible characters and, if it is Chinese, in simplified script.

    For comparing only: a person reads and is quoted what was written.
    """
    text = visible(text)
    if text.isascii() or _KANA.search(text):
        return text
    simplified: str = _to_simplified().convert(text)
    return simplified


def visible(text: str) -> str:
    """Return `text` without invisible characters that change nothing: soft hyphens, joiners, …"""
    seen: str = _INVISIBLE.sub("", text)
    return seen


@cache
def _to_simplified() -> OpenCC:
    return OpenCC("t2s")  # 20 ms, then 10 µs for a chunk
