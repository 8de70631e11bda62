"""Invisible characters go where they change nothing, and stay where they form what is seen."""

from __future__ import annotations

import pytest

from apps.core.text.comparable import comparable, visible
from apps.core.text.words import folded, terms


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("sham\u00adpoo", "shampoo"),
        ("re\u200bfund of the dep\u2060osit", "refund of the deposit"),
        ("押\u200b金\u200d退\ufeff还", "押金退还"),
        ("off\u200cice", "office"),
        ("caf\u0065\u0301\u200d", "cafe\u0301"),
        ("葛\U000e0100城", "葛城"),
        ("第1\ufe0f条", "第1条"),
        ("left\u200eto\u202eright", "lefttoright"),
        ("A\ufe00", "A"),
        ("\u200b\u200d\u00ad", ""),
    ],
)
def test_invisible_characters_inside_words_go(written: str, read: str) -> None:
    assert visible(written) == read
    assert folded(written) == folded(read)
    assert terms(written) == terms(read)


@pytest.mark.parametrize(
    "text",
    [
        "👩🏽\u200d🚒 and 👨\u200d👩\u200d👧",
        "❤\ufe0f\u200d🔥 ☎\ufe0f ©\ufe0f ✂\ufe0e",
        "press 1\ufe0f\u20e3 or #\ufe0f\u20e3",
        "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
        "می\u200cخواهم",
        "क्\u200dष and ക്\u200dഷ",
        "ක්\u200dරි",
        "ᠠ\u180b",
        "plain text, 年假。\n\tnext",
    ],
)
def test_what_forms_an_emoji_or_a_letter_stays(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    ("traditional", "simplified"),
    [
        ("理髮師每週三休息", "理发师每周三休息"),
        ("後院的鬧鐘", "后院的闹钟"),
        ("乾淨的裏面", "干净的里面"),
        ("乾隆皇后", "乾隆皇后"),
        ("押\u200b金退還", "押金退还"),
    ],
)
def test_traditional_and_simplified_chinese_are_one_for_comparing(traditional, simplified):
    assert comparable(traditional) == simplified
    assert terms(traditional) == terms(simplified)


def test_japanese_and_other_scripts_are_not_converted() -> None:
    for text in ("図書館の開館時間は十時です。", "무료 顧客", "Library hours: 10–18 ©"):
        expected = text.replace("顧", "顾")
        assert comparable(text) == expected
