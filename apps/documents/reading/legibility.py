"""Whether text that an engine took from a PDF page is language or gibberish.

A font without a character map yields glyph numbers, a wrong map letters of unrelated scripts.
The figures below were set on public PDFs (intact ones stay under .02) and on text in 20 languages.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

from apps.documents.reading.characters import HANZI, common_hanzi

# From here on (any sign at all) another engine is asked, and from here on a page is unreadable.
SUSPICIOUS = 0.001
GARBLED = 0.25

MIN_LETTERS = 8  # too few letters prove nothing
MIN_HANZI = 8
MIN_WORD_LETTERS = 60
MIN_PROSE_LETTERS = 200  # a shorter list of acronyms is only suspicious
MAX_LATIN_1_SHARE = 0.40  # of the letters; the densest languages stay under .25
MIN_COMMON_HANZI = 0.70  # of the hanzi; classical texts and name lists stay over .85
MIN_VOWELS = 0.24  # of Latin letters; languages stay over .30
MAX_SYMBOL_SHARE = 0.35  # of the visible characters; source code stays under .30
MIN_SYMBOL_KINDS = 12
MAX_BULLET_SHARE = 0.30

_SPACE = re.compile(r"\s+")
# PDFium marks a hyphen at a line's end with U+0002 or U+FFFE.
_HYPHEN_MARKS = re.compile("[\x02\ufffe](?=\\w)")
# Names that engines print for glyphs without a character: by number, by suffix, or from the Adobe
# Glyph List.
_GLYPH_NAMES = re.compile(
    r"/(?:uni[0-9A-F]{4}|u1?[0-9A-F]{4,5}|(?:g|gid|glyph|cid|c|G|C|a)\d{1,5}"
    r"|[A-Za-z]+\.(?:os|osf|onum|lf|tf|sc|smcp|alt|case|oldstyle|small|fitted|sups|sinf|dnom|numr)"
    r"|zero|one|two|three|four|five|six|seven|eight|nine|space|comma|period|hyphen|colon|semicolon"
    r"|parenleft|parenright|quoteright|quoteleft|endash|emdash|bullet|ff|fi|fl|ffi)(?![A-Za-z])"
    r"|\(cid:\d+\)"
)
_LONG_WORD = re.compile(r"[A-Za-z]{22,}")
_BROKEN_CATEGORIES = frozenset({"Cc", "Cn", "Co", "Cs"})
_PRIVATE_BULLETS = re.compile("[\uf020-\uf0ff]")  # Symbol and Wingdings in Word files
_LATIN_1 = re.compile("[\xa0-\xff]")
_VOWELS = re.compile("[aeiouyAEIOUY]")
_ASCII_SYMBOL = re.compile(r"[!-/:-@\[-`{-~]")
_ASCII_LETTER = re.compile("[A-Za-z]")
_SCRIPT_PARTS = (
    ("latin", "A-Za-zªµºÀ-ÖØ-öø-\u024f\u1e00-\u1eff\u2c60-\u2c7f\ua720-\ua7ff"),
    ("east", "\u2e80-\u2fdf\u3005-\u3007\u3041-\u30ff\u3105-\u312f\u31f0-\u31ff"
     "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"),
    ("ipa", "\u0250-\u02af"),
    ("greek", "\u0370-\u03ff\u1f00-\u1fff"),
    ("cyrillic", "\u0400-\u052f"),
    ("armenian", "\u0531-\u058f"),
    ("hebrew", "\u05d0-\u05f4"),
    ("arabic", "\u0620-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufefc"),
    *((f"brahmic{block}", f"\\u{block:04x}-\\u{block + 0x7f:04x}")
      for block in range(0x0900, 0x0f00, 0x80)),
    ("tibetan", "\u0f00-\u0fff"),
    ("burmese", "\u1000-\u109f"),
    ("georgian", "\u10a0-\u10ff"),
    ("ethiopic", "\u1200-\u139f"),
    ("other", "\u13a0-\u1dff\ua000-\ua71f\ua800-\uabff"),
)  # fmt: skip
_SCRIPT_RUNS = re.compile("|".join(f"(?P<{name}>[{chars}]+)" for name, chars in _SCRIPT_PARTS))
# Letters of these are set beside any other script (symbols, quotations, formulas).
_SOCIABLE = frozenset({"latin", "greek"})


def garbling(text: str) -> float:
    """Return how garbled `text` is, from 0 (language, or too little to tell) to 1 (gibberish)."""
    visible = _SPACE.sub("", _HYPHEN_MARKS.sub("", text))
    if not visible:
        return 0.0
    counts = Counter(visible)
    signs = (_broken, _latin_1, _rare_hanzi, _without_vowels, _symbols)
    return max(
        _glyph_names(text, len(visible)),
        _script_jumps(visible),
        _run_together(text, len(visible)),
        *(sign(counts) for sign in signs),
    )


def _broken(counts: Counter[str]) -> float:
    """Twice the share of controls, unassigned, private and replacement characters."""
    broken = sum(
        n
        for char, n in counts.items()
        if (char == "\ufffd" or unicodedata.category(char) in _BROKEN_CATEGORIES)
        and not _PRIVATE_BULLETS.match(char)
    )
    bullets = sum(n for char, n in counts.items() if _PRIVATE_BULLETS.match(char))
    total = counts.total()
    if bullets > MAX_BULLET_SHARE * total:
        broken += bullets
    return min(1.0, 2 * broken / total)


def _glyph_names(text: str, size: int) -> float:
    return sum(len(match[0]) for match in _GLYPH_NAMES.finditer(text)) / size


def _run_together(text: str, size: int) -> float:
    """Share of words too long to be one, as if spaces were lost; never garbled by itself."""
    share = sum(len(match[0]) for match in _LONG_WORD.finditer(text)) / size
    return min(share, GARBLED / 2)


def _latin_1(counts: Counter[str]) -> float:
    """Squared share of Latin-1 when it exceeds any language: CJK bytes read one by one."""
    high = sum(n for char, n in counts.items() if _LATIN_1.match(char))
    letters = high + sum(n for char, n in counts.items() if char.isalpha() and char > "\xff")
    letters += sum(n for char, n in counts.items() if _ASCII_LETTER.match(char))
    share = high / letters if letters >= MIN_LETTERS else 0.0
    return share**2 if share > MAX_LATIN_1_SHARE else 0.0


def _rare_hanzi(counts: Counter[str]) -> float:
    hanzi = {char: n for char, n in counts.items() if HANZI.match(char)}
    total = sum(hanzi.values())
    if total < MIN_HANZI:
        return 0.0
    common = sum(n for char, n in hanzi.items() if char in common_hanzi()) / total
    return 1 - common if common < MIN_COMMON_HANZI else 0.0


def _without_vowels(counts: Counter[str]) -> float:
    """Letters shifted by a constant, as glyph numbers often are, hold few vowels."""
    letters = sum(n for char, n in counts.items() if _ASCII_LETTER.match(char))
    if letters < MIN_WORD_LETTERS:
        return 0.0
    vowels = sum(n for char, n in counts.items() if _VOWELS.match(char)) / letters
    if vowels >= MIN_VOWELS:
        return 0.0
    score = 1 - vowels / MIN_VOWELS
    return score if letters >= MIN_PROSE_LETTERS else min(score, GARBLED - SUSPICIOUS)


def _symbols(counts: Counter[str]) -> float:
    """Squared share of ASCII symbols when nearly all kinds are mixed: small glyph numbers."""
    symbols = {char: n for char, n in counts.items() if _ASCII_SYMBOL.match(char)}
    share = sum(symbols.values()) / counts.total()
    return share**2 if share > MAX_SYMBOL_SHARE and len(symbols) >= MIN_SYMBOL_KINDS else 0.0


def _script_jumps(visible: str) -> float:
    """Share of letters where one word goes from a script to an unrelated one."""
    jumps = letters = 0
    previous, previous_end = "", -1
    for run in _SCRIPT_RUNS.finditer(visible):
        script = str(run.lastgroup)
        adjacent = run.start() == previous_end
        if adjacent and not _SOCIABLE & {script, previous}:
            jumps += 1
        letters += run.end() - run.start()
        previous, previous_end = script, run.end()
    return jumps / letters if letters >= MIN_LETTERS else 0.0
