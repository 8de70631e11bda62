"""How plausible characters are in running text: shared by the encoding and the legibility checks.

The levels are those of the national standards, read from the codecs: GB 2312 level 1 (3,755 hanzi
by frequency), Big5 level 1 (5,401), JIS X 0208 level 1 (2,965 kanji).
"""

from __future__ import annotations

import math
import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# About the 450 most frequent hanzi of modern prose, simplified and traditional forms together.
FREQUENT_HANZI = frozenset(
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里"
    "用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实"
    "日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政"
    "美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员"
    "解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件"
    "计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象"
    "完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运请须需按照"
    "六七八九百千每日未除若章节款项申批号单"
    "這個們來爲為國時會對於著過發後裏裡種經麼學現當沒動麗還進樣開從實軍與長機無業將兩間應戰頭體見產東聲員"
    "論處義幾條係氣題爾別變總電數報務場計資許統區隊決馬書則聽達強難權張規萬覺術領確傳師觀讓識帶導爭運請須"
    "號單節項"
)

HANZI = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_MARKS = re.compile("[\u2010-\u2027\u2030-\u205e\u3001-\u303f\uff01-\uff65\uffe0-\uffe6·×÷°§±]")
_KANA = re.compile("[\u3041-\u30ff\uff66-\uff9f]")
_HANGUL = re.compile("[\uac00-\ud7a3]")

# Natural logarithms of a class's share of running text divided by the number of its characters.
LOG_ASCII = math.log(0.30 / 95)
LOG_FREQUENT = math.log(0.50 / len(FREQUENT_HANZI))
LOG_MARK = math.log(0.12 / 60)
LOG_LEVEL_ONE = math.log(0.34 / 4000)
LOG_KANA = math.log(0.50 / 170)
LOG_HANGUL = math.log(0.80 / 2350)
LOG_OTHER = math.log(0.02 / 20_000)

# Codec, lead bytes, and trail bytes of the first level.
_LEVEL_ONE = {
    "gb2312": (range(0xB0, 0xD8), (*range(0xA1, 0xFF),)),
    "big5": (range(0xA4, 0xC7), (*range(0x40, 0x7F), *range(0xA1, 0xFF))),
    "shift_jis": (range(0x88, 0x99), (*range(0x40, 0x7F), *range(0x80, 0xFD))),
}


@cache
def level_one(standard: str) -> frozenset[str]:
    """Return the first-level hanzi of `gb2312`, `big5` or `shift_jis`."""
    leads, trails = _LEVEL_ONE[standard]
    pairs = bytes(byte for lead in leads for trail in trails for byte in (lead, trail))
    return frozenset(HANZI.findall(pairs.decode(standard, "ignore")))


@cache
def common_hanzi() -> frozenset[str]:
    """Return the hanzi that any of the three standards counts as common."""
    return FREQUENT_HANZI.union(*(level_one(standard) for standard in _LEVEL_ONE))


def log_likelihood(counts: Mapping[str, int], *, standard: str, chinese: bool) -> float:
    """Return how well characters fit prose, as the sum of their log probabilities.

    `standard` lists the common hanzi. Kana and Hangul are no part of Chinese prose.
    """
    common = level_one(standard)
    return sum(n * _log_probability(char, common, chinese=chinese) for char, n in counts.items())


def _log_probability(char: str, common: frozenset[str], *, chinese: bool) -> float:
    if char.isascii():
        return LOG_ASCII
    if char in FREQUENT_HANZI:
        return LOG_FREQUENT
    if char in common:
        return LOG_LEVEL_ONE
    if _MARKS.match(char):
        return LOG_MARK
    if chinese:
        return LOG_OTHER
    return LOG_KANA if _KANA.match(char) else LOG_HANGUL if _HANGUL.match(char) else LOG_OTHER
