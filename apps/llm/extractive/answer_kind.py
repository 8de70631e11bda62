"""The kind of answer a question asks for, and whether a sentence holds something of that kind."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

from apps.core.text.comparable import comparable

Kind = Literal["time", "number", "place", "person", "reason", "definition"]
StrictKind = Literal["price", "weight"]  # without an amount of it there is no answer


def _any(*alternatives: str, flags: int = re.IGNORECASE) -> re.Pattern[str]:
    return re.compile("|".join(alternatives), flags)


_DIGITS = "零〇一二三四五六七八九十百千万亿两"
_UNITS = "个位名人次条种座岁家所部本级天项元米里吨年月日层篇册集届%％"
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_NUMERALS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty"
    "|sixty|seventy|eighty|ninety|hundred|thousand|million|billion|half|third|quarter|twice"
)
_ASKED: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (
        "time",
        _any(
            "何时|什么时[候间]|哪一?[年月天日]|哪个(?:月|年)|几[年月日号点]|年份|日期|时期|年代|朝代|世纪",
            r"\bwhen\b|\b(?:what|which) (?:year|date|day|month|century|decade|time)\b",
        ),
    ),
    (
        "number",
        _any(
            f"多少|多[长大高久重宽深远快]|几[{_UNITS}]|第几|上限|限额|价格|票价|费用|[数产销]量|比例",
            r"\bhow (?:many|much|long|old|far|tall|large|big|often|high|deep|fast|heavy)\b",
            r"\b(?:percent|percentage|number|amount|rate|price|cost|limit)\b",
        ),
    ),
    (
        "place",
        _any(
            "哪里|哪儿|何处|何地|什么地方|地址|位置|籍贯|哪个?(?:国|省|市|县|城|地区|地方|区|岛|州)",
            r"\bwhere\b",
            r"\b(?:what|which) (?:country|city|state|place|town|county|continent|region)\b",
        ),
    ),
    ("person", _any("谁|何人|哪一?[位名]|哪几[位名]|什么人", r"\bwho(?:m|se)?\b")),
    ("reason", _any("为什么|为何|何故|什么原因|原因是|因为什么|因何", r"\bwhy\b|\breason\b")),
    (
        "definition",
        _any(
            "(?:是|指)(?:的是)?什么(?:意思)?[？?]?$|什么是|何谓|定义|含义",
            r"^what (?:is|are)\b|\bdefin|\bwhat does .* mean\b",
        ),
    ),
)
_HELD: dict[Kind, re.Pattern[str]] = {
    "time": _any(
        r"\d{1,4}\s*(?:年|月|日|世纪|点|时|:\d\d)",
        f"[{_DIGITS}]+(?:年|月|日|世纪)|年代|世纪|朝|时期|期间",
        rf"\b1\d{{3}}\b|\b20\d\d\b|\b(?:{_MONTHS})\b|\bcentur",
    ),
    "number": _any(rf"\d|[{_DIGITS}]+[{_UNITS}]|免费|\b(?:{_NUMERALS})\b"),
    "place": _any(
        "位于|地处|[省市县区镇乡村州国岛路街]",
        r"\b(?:in|at|near|from|of) (?:the )?[A-Z]",
        flags=0,
    ),
    "person": _any(
        r"·|先生|女士|教授|博士|总统|国王|皇帝|导演|作者|\b[A-Z][a-z]+ (?:[A-Z]\. )?[A-Z][a-z]+",
        flags=0,
    ),
    "reason": _any(
        "因为|由于|因此|因而|所以|为了|导致|原因|以便|避免",
        r"\b(?:because|due to|since|in order to|as a result|so that|therefore)\b|\bcaus",
    ),
    "definition": _any(
        "是|指|即|称为|定义", r"\b(?:is|are|was|were|means|refers to|defined as)\b"
    ),
}


_AMOUNT_ASKED: dict[StrictKind, re.Pattern[str]] = {
    "price": _any(
        "多少钱|几(?:块|元)钱?|(?:价格|价钱|售价|票价|房价|单价|费用|收费|学费|[月年房]租|押金)"
        "(?:大概|大约)?(?:是|为|要)?多少",
        r"\bhow much (?:do|does|did|will|would) .{0,80}\b(?:cost|charge|pay)\b",
        r"\bhow (?:expensive|much money)\b",
        r"\bwhat (?:is|are|was|were) (?:the |its )?(?:[\w-]+ ){0,3}(?:price|cost|fee)s?\b",
    ),
    "weight": _any(
        "多重|(?:重量|体重|净重)(?:大概|大约)?(?:是|为|有)?多少|几(?:公斤|千克|斤|吨)",
        r"\bhow heavy\b|\bhow much (?:do|does|did) .{0,80}\bweigh\b",
        r"\bwhat (?:is|are|was) .{0,80}\bweight\b",
    ),
}
_AMOUNT_HELD: dict[StrictKind, re.Pattern[str]] = {
    "price": _any(
        f"[\\d{_DIGITS}]\\s*(?:多|余|几)?(?:元|块|角|欧元|美元|英镑|日元|人民币|港币)|[$€£¥￥]\\s*\\d|\\d\\s*[$€£]"
        "|免费|不收费|无偿|(?:价|费|金额|租金|押金|[门车机船]票|元).*\\d",
        r"\d\s*(?:us )?(?:dollars?|euros?|pounds?|cents?|usd|eur|gbp|rmb|yuan)\b",
        r"\bfree\b|\bno charge\b|\b(?:prices?|costs?|fees?|fares?|rent)\b.*\d",
        r"\d.*\b(?:prices?|costs?|fees?|fares?)\b",
    ),
    "weight": _any(
        f"[\\d{_DIGITS}]\\s*(?:多|余)?(?:公斤|千克|克|斤|吨|磅)|重.*\\d",
        r"\d\s*(?:kg|kilo(?:gram)?s?|grams?|g|mg|tons?|tonnes?|pounds?|lbs?|oz|ounces?|stone)\b",
        r"\bweigh.*\d",
    ),
}

_FACT = _any(
    "[谁哪几吗呢]|多少|多[长大高久重远]|什么|何[时处地人]|是否|有没有",
    r"^(?:who|whom|whose|when|where)\b",
    r"\bhow (?:many|much|long|old|far|tall|large|big|often|high|deep|fast|heavy)\b",
    r"\b(?:what|which) (?!(?:is|are|was|were|do|does|did|can|should|could|would|will)\b)"
    r"\w*[^\Ws]\b",
)
_EXPLANATION = _any(
    "怎么|怎样|如何|为什么|为何|介绍|说明|哪些|区别|步骤|流程|方法|特点|定义|什么是|什么意思",
    r"\b(?:why|explain|describe|tell me|difference|steps)\b",
)


def wants_explanation(question: str) -> bool:
    """Whether the question asks for more than one fact: how, why, what is, or a mere keyword."""
    text = _plain(question).strip()
    return bool(_EXPLANATION.search(text)) or not _FACT.search(text)


def kind_asked(question: str) -> Kind | None:
    """Return the first kind whose question words stand in `question`, or None."""
    text = _plain(question)
    return next((kind for kind, pattern in _ASKED if pattern.search(text)), None)


def strict_kind(question: str) -> StrictKind | None:
    """Return "price" or "weight" when the question asks for such an amount, or None."""
    text = _plain(question)
    return next((kind for kind, pattern in _AMOUNT_ASKED.items() if pattern.search(text)), None)


def holds_amount(kind: StrictKind, text: str) -> bool:
    """Whether `text` holds an amount of that kind, or says that nothing is to be paid."""
    return bool(_AMOUNT_HELD[kind].search(_plain(text)))


def holds_new(kind: Kind, text: str, question: str) -> bool:
    """Whether `text` holds a span of the kind that the question does not hold itself."""
    asked = _plain(question)
    found = _HELD[kind].finditer(_plain(text))
    return any(match.group() not in asked or kind == "definition" for match in found)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", comparable(text))
