"""The kind of answer a question asks for, and whether a sentence holds something of that kind."""

from __future__ import annotations

import re
from typing import Literal

from apps.llm.embedded.words import folded

Kind = Literal["time", "number", "place", "person", "reason"]

_ASKED: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (
        "time",
        re.compile(
            r"何时|什么时候|什么时间|哪一?年|哪[一个]*[月天日]|几[年月日号点]|年份|日期|时期|年代|朝代|世纪|\bwhen\b"
            r"|\b(?:what|which) (?:year|date|day|month|century|decade|time)\b"
        ),
    ),
    (
        "number",
        re.compile(
            r"多少|多[长大高久重宽深远快]|几[个位名人次条种座岁家所部本级天项]|第几|how (?:many|much|long|old|far|tall|large|big|often|high|deep)"
            r"|\b(?:percent|percentage|number|amount|rate)\b|上限|限额|价格|票价|费用"
        ),
    ),
    (
        "place",
        re.compile(
            r"哪里|哪儿|何处|何地|什么地方|哪[一个]*(?:国|省|市|县|城市|地区|国家|地方|区|岛|州)|地址|位置|\bwhere\b"
            r"|\b(?:what|which) (?:country|city|state|place|town|county|continent|region)\b"
        ),
    ),
    (
        "person",
        re.compile(r"谁|何人|哪[一几]?[位名]|什么人|\bwho(?:m|se)?\b"),
    ),
    (
        "reason",
        re.compile(
            r"为什么|为何|何故|什么原因|原因是|因为什么|因何|\bwhy\b|\breason\b|what caused"
        ),
    ),
)
_MONTH = "january|february|march|april|may|june|july|august|september|october|november|december"
_CHINESE_DIGITS = "零〇一二三四五六七八九十百千万亿两"
_HELD: dict[Kind, re.Pattern[str]] = {
    "time": re.compile(
        rf"\d{{1,4}}\s*(?:年|月|日|世纪|点|时|:\d\d)|[{_CHINESE_DIGITS}]+(?:年|月|日|世纪)|年代|世纪|\b1\d{{3}}\b|\b20\d\d\b"
        rf"|\b(?:{_MONTH})\b|centur|朝|时期|期间"
    ),
    "number": re.compile(
        rf"\d|[{_CHINESE_DIGITS}]+[个位名人次条种座岁家所部本级天项元米里吨年月日]|免费"
        r"|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|hundred|thousand|million|half|third|quarter)\b"
    ),
    "place": re.compile(
        r"位于|地处|[省市县区镇乡村州国岛路街]|\b(?:in|at|near|from) the \w|\b(?:in|at|near|from)\b", re.ASCII
    ),
    "person": re.compile(r"·|先生|女士|教授|博士|[总]统|国王|[皇帝]|导演|作者|\b(?:mr|mrs|dr|king|president|by)\b"),
    "reason": re.compile(
        r"因为|由于|因此|因而|所以|为了|导致|原因|\bbecause\b|\bdue to\b|\bsince\b|\bin order to\b|\bas a result\b|\bso that\b|\bcaus"
    ),
}  # fmt: skip


def kind_asked(question: str) -> Kind | None:
    """Return the first kind whose question words stand in `question`, or None."""
    text = folded(question)
    return next((kind for kind, pattern in _ASKED if pattern.search(text)), None)


def holds_new(kind: Kind, text: str, question: str) -> bool:
    """Whether `text` holds a span of the kind that the question does not hold itself."""
    asked = folded(question)
    return any(match.group() not in asked for match in _HELD[kind].finditer(folded(text)))
