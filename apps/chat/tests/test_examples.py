"""What offered questions ask about."""

from __future__ import annotations

import pytest

from apps.chat.pages.examples import topics_of


@pytest.mark.parametrize(
    ("content", "title", "topics"),
    [
        ("# 员工手册\n\n## 第二章 休假\n\n十天。\n\n## 附录\n\n无。", "员工手册", ["休假"]),
        ("# Guide\n\n## 1.2 **Backups**\n\nAt night.\n", "guide", ["Backups"]),
        ("# 企鹅\n\n住在北极站。", "动物", ["企鹅"]),
        ("```\n# install\n```\n## Set up\n\nRun it.", "x", ["Set up"]),
        (
            "装修合同\n付款方式\n签订合同时支付百分之三十。\n工期\n工期为九十天。",
            "装修合同",
            ["付款方式", "工期"],
        ),
        (
            "会议纪要\n\n会议决定新的仓储系统于2020年上线。",
            "会议纪要-0612",
            ["会议决定新的仓储系统"],
        ),
        (
            "The Lantern festival takes place in March, as every year.",
            "notes",
            ["The Lantern festival"],
        ),
        ("The warehouse on Maple Road opens at seven every day.", "notes", ["The warehouse"]),
        ("学院宿舍规定\n\n用电\n每月三十度以内不收取费用。", "宿舍规定", ["用电"]),
        ("1. Battery ........ 2\nThe battery holds 504 watt hours.", "guide", ["Battery"]),
        ("## <img src=x>\n\n12 345", "x", []),
    ],
)
def test_topics_are_headings_or_the_first_subject(content, title, topics):
    assert topics_of([content], title=title) == topics
