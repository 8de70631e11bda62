"""Texts of any length, the same in each run: made-up facts about made-up departments."""

from __future__ import annotations

import random

CHUNK_STEP_CHARS = 445  # new text per chunk of 500 characters with an overlap of 50, about
DEPARTMENTS = tuple(
    f"{name}部" for name in ("财务", "人事", "研发", "市场", "法务", "采购", "客服")
)
SUBJECTS = ("年假", "报销", "培训", "出差", "合同", "值班", "盘点", "巡检", "发票", "考勤", "印章")
VERBS = ("需要提前", "应当不少于", "最多可以", "通常安排在", "原则上不超过")
UNITS = ("三天", "五个工作日", "十五天", "两周", "一个月", "四十八小时", "每季度一次", "每年两次")


def text_of(chunks: int, *, seed: int) -> str:
    """Return a text that is split into about `chunks` chunks."""
    choose = random.Random(seed)  # noqa: S311 - no secret
    lines, length = [], 0
    while length < chunks * CHUNK_STEP_CHARS:
        line = (
            f"{choose.choice(DEPARTMENTS)}第{choose.randrange(1, 9999)}号规定："
            f"{choose.choice(SUBJECTS)}{choose.choice(VERBS)}{choose.choice(UNITS)}，"
            f"由{choose.choice(DEPARTMENTS)}负责{choose.choice(SUBJECTS)}的登记与核对。"
        )
        lines.append(line)
        length += len(line) + 1
    return "\n".join(lines)


def questions(count: int, *, seed: int = 7) -> list[str]:
    """Return different questions about such texts."""
    choose = random.Random(seed)  # noqa: S311 - no secret
    return [
        f"{choose.choice(DEPARTMENTS)}的{choose.choice(SUBJECTS)}{choose.choice(VERBS)}多久（{n}）？"
        for n in range(count)
    ]
