"""Joining the lines that a page's layout broke."""

from __future__ import annotations

import pytest

from apps.documents.reflow import reflowed


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("使用过程中不仅是\n编程知识点。", "使用过程中不仅是编程知识点。"),
        ("a trace is\na path", "a trace is a path"),
        ("com-\npile", "com-pile"),
        ("使用 Java\n编程", "使用 Java编程"),
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
