"""Text is cut where a reader sees a border, and never grows beyond its bound."""

from __future__ import annotations

import pytest

from apps.core.text.graphemes import border_before, opening, shortened

FAMILY = "👨\u200d👩\u200d👧"
WAVING = "👋🏽"
FLAG = "🇨🇳"
KEYCAP = "1\ufe0f\u20e3"
ACCENTED = "e\u0301"


@pytest.mark.parametrize(
    "grapheme", [FAMILY, WAVING, FLAG, KEYCAP, ACCENTED, "नि", "각", "年", "a"]
)
def test_opening_counts_what_a_reader_sees(grapheme: str) -> None:
    assert opening(grapheme * 40, 30) == grapheme * 30
    assert opening(grapheme * 30, 30) == grapheme * 30
    assert shortened(grapheme * 31, 30) == grapheme * 30 + "…"
    assert shortened(grapheme * 30, 30) == grapheme * 30


def test_opening_of_a_long_row_of_flags_ends_between_two() -> None:
    assert opening(FLAG * 5000, 25) == FLAG * 25


def test_opening_of_marks_without_end_is_bounded() -> None:
    assert opening("ab" + "\u0301" * 9000, 3) == "a"
    assert opening("a" + "\u0301" * 9000, 3) == "a" + "\u0301" * 23


def test_shortened_ends_without_white_space() -> None:
    assert shortened("one two three", 8) == "one two…"
    assert shortened("", 8) == ""


def test_border_before_counts_code_points_from_its_start() -> None:
    assert border_before(FLAG * 3, 5) == 4
    assert border_before("a" + FLAG * 3, 6, start=3) == 5
    assert border_before("abcdef", 4) == 4
    assert border_before("a" + "\u0301" * 9, 4) == 4
