"""Joining the lines that a page's layout broke."""

from __future__ import annotations

import pytest

from apps.documents.web.reflow import reflowed

ZH = "本手册的使用过程中所涉及的内容不仅是语言的"  # as wide as a wrapped line
EN = "a trace that the compiler has recorded once is"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        (f"{ZH}\n编程知识点。", f"{ZH}编程知识点。"),
        (f"{EN}\na path", f"{EN} a path"),
        (f"{EN} com-\npile", f"{EN} com-pile"),
        (f"{EN} Java\n编程", f"{EN} Java编程"),
        ("2.1 年休假\n年休假天数按工龄计算", "2.1 年休假\n年休假天数按工龄计算"),
        ("满 3 年 11 天\n满 8 年 15 天\n", "满 3 年 11 天\n满 8 年 15 天\n"),
        ("第一句。\n第二句。", "第一句。\n第二句。"),
        ("说明：\n弊端如下", "说明：\n弊端如下"),
        ("标题\n\n正文", "标题\n\n正文"),
        (
            "规则\n1）第一\n2）第二\n- 第三\n【强制】第四",
            "规则\n1）第一\n2）第二\n- 第三\n【强制】第四",
        ),
        ("| a |\n| b |", "| a |\n| b |"),
        ("end\n", "end\n"),
    ],
)
def test_lines_of_a_sentence_are_joined(text, shown):
    assert reflowed(text) == shown
