"""The text of a PDF page as it is indexed."""

from __future__ import annotations

import pytest

from apps.core.text.cleaning import clean_text
from apps.documents.reading.pdf import page_ranges
from apps.documents.reading.pdf_text import page_text


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("The e\ufb00ective of\ufb01ce hours", "The effective office hours"),
        ("\u2f64\u6237\u2f3f\u518c", "用户手册"),
        ("\uf900\u8c48", "豈\u8c48"),
        ("\ufe8d\ufedf\ufecc", "الع"),
        ("中 日 战 争 爆 发", "中日战争爆发"),
        ("第一章 概述与范围说明", "第一章 概述与范围说明"),
        ("reimburse\x02ment", "reimbursement"),
        ("reimburse\x02\r\nment", "reimbursement"),
        ("reimburse\ufffement", "reimbursement"),
        ("soft\xad\nhyphen", "softhyphen"),
        ("a\x00b\ud83dc\x07\r\nd\re\x0cf", "abc\nd\ne\nf"),
        ("  \n text \n", "text"),
    ],
)
def test_page_text_is_searchable(raw: str, text: str) -> None:
    assert page_text(raw) == text


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("\ud83d\ude00", "😀"),
        ("a\ud83d", "a"),
        ("\udc00b\ufeffc", "bc"),
        ("a\u2028b\u0085c\x0bd", "a\nb\nc\nd"),
        ("tab\tstays\nnul\0goes\x9b\ufffe\ufdd0", "tab\tstays\nnulgoes"),
        ("👨\u200d👩 é \u202e", "👨\u200d👩 é \u202e"),
    ],
)
def test_cleaned_text_is_safe_and_otherwise_unchanged(raw: str, text: str) -> None:
    assert clean_text(raw) == text


def test_page_numbers_become_ranges() -> None:
    assert page_ranges([]) == []
    assert page_ranges([3, 4, 5, 9]) == [[3, 5], [9, 9]]
