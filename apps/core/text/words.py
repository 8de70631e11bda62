"""What a text is about, as sets of terms: Chinese character pairs, and stems of other words.

Purely lexical, without dictionaries of any subject. It refuses to know grammar: question words and
the commonest function words are dropped, nothing else.
"""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from apps.core.text.comparable import comparable

if TYPE_CHECKING:
    from collections.abc import Iterable

Language = Literal["zh", "en"]

HAN = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_RUN = re.compile(rf"[{HAN}]+|[^\W_{HAN}]+", re.UNICODE)
_HAN = re.compile(f"[{HAN}]")
_LATIN_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]{2,}")
CHARACTERS_PER_WORD = 2  # of Chinese
FEW_FOREIGN_WORDS = 0.1  # an English text may name something in Chinese
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
# Words that ask, and particles: they say nothing about what is asked for.
_CHINESE_FUNCTION = re.compile(
    "什么时候|什么样|什么|怎么样|怎么|怎样|为什么|为何|何时|何处|何地|何人|何种|如何|哪里|哪儿|哪个|哪些"
    "|哪位|哪一[年天个位]?|哪年|哪|谁|多少|多久|多长|多大|多高|几个|是否|有没有|能不能|可不可以|可以|应该|需要|请问|知道|告诉我?"
    "|介绍|一下|[的了吗呢吧呀啊么着是在有能会要和与及为以于被把将也都就而或这那此该其它他她嗯哦噢喔哇]"
)
_ENGLISH_FUNCTION = frozenset(
    """a an the of in on at to for from by with and or but as is are was were be been being do does
    did have has had can could will would shall should may might must it its this that these those
    there their they them he she his her him i you we me my your our us what which who whom whose
    when where why how many much about into than then so if not no please tell know also any some
    ok okay oh yes yeah hi hello thanks s t re ve ll d m""".split()  # noqa: SIM905 - a list of words is easier to read as words
)
# Words that ask for more of the same, measure or stand in for another verb: they name nothing.
_LIGHT = re.compile(
    "^[从自]|(?:开始的?|起)(?=[？?]?$)|最[多少长短晚早大小高低快慢好]|至[多少]|大概|大约|具体|一般|通常|详细|仔细|清楚|解释|原因|情况|更|还|用|(?:几|多少)[个位名人次条种天年月日点号钱元块]"
    r"|\bhow (?:long|often|far|big|large|old|come)\b"
    r"|\b(?:since|take|get|got|mean|happen|work|go|come|one|ones|thing|exactly|more|detail|details)s?\b"
)
_MIN_STEM = 4
_VERBS = Path(__file__).with_name("irregular_verbs.txt").read_text(encoding="utf-8").splitlines()
_BASE_FORM = {form: verb for verb, *forms in map(str.split, _VERBS) for form in forms}


def language_of(text: str) -> Language:
    """Return "zh" when `text` holds Chinese characters, else "en"."""
    return "zh" if _HAN.search(text) else "en"


def is_foreign(text: str, question: str) -> bool:
    """Whether `text` is written in the other language than `question`.

    A text in both languages is foreign to no question.
    """
    chinese = len(_HAN.findall(text)) / CHARACTERS_PER_WORD
    latin = len(_LATIN_WORD.findall(text))
    if language_of(question) == "zh":
        return chinese < FEW_FOREIGN_WORDS * latin
    return chinese > latin


def folded(text: str) -> str:
    """Return `text` in one script, form and letter case, without invisible characters."""
    return unicodedata.normalize("NFKC", comparable(text)).lower()


def terms(text: str) -> list[str]:
    """Return the terms of `text` in order, repeated ones included.

    A single Chinese character, such as a measure word after a number, counts only when there is
    nothing else.
    """
    found: list[str] = []
    for run in _RUN.findall(_CHINESE_FUNCTION.sub(" ", folded(text))):
        if _HAN.match(run):
            found += pairs(run)
        elif run not in _ENGLISH_FUNCTION:
            found.append(stem(run))
    telling = [term for term in found if not _is_single(term)]
    return telling or found


def telling_terms(question: str) -> set[str]:
    """Return the terms that name what is asked for; none in "why?" or "how long does it take?"."""
    return set(terms(_LIGHT.sub(" ", folded(question))))


def characters(text: str) -> set[str]:
    """Return the single Chinese characters, and the stems of other words, of `text`."""
    found: set[str] = set()
    for run in _RUN.findall(_CHINESE_FUNCTION.sub(" ", folded(text))):
        if _HAN.match(run):
            found.update(run)
        elif run not in _ENGLISH_FUNCTION:
            found.add(stem(run))
    return found


def pairs(run: str) -> list[str]:
    """Return the pairs of neighbours in a run of Chinese characters; a single one as it is."""
    return [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]


def _is_single(term: str) -> bool:
    return len(term) == 1 and bool(_HAN.match(term))


def stem(word: str) -> str:
    """Return an English word without the commonest endings; short words as they are.

    The past of an irregular verb becomes the verb, unless the form is a common word of its own.
    """
    return without_ending(_BASE_FORM.get(word, word))


def without_ending(word: str, *, whole: int = _MIN_STEM) -> str:
    """Return an English word without the commonest endings; of `whole` letters, as it is."""
    for ending, instead in (("ies", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM - 1:
            return (word[: -len(ending)] + instead).rstrip("e")
    return word.rstrip("e") if len(word) > whole else word


def numbers(text: str) -> set[str]:
    """Return the numbers written in digits, without thousands separators."""
    return {match.replace(",", "") for match in _NUMBER.findall(folded(text))}


def term_set(texts: Iterable[str]) -> set[str]:
    """Return all terms of several texts."""
    return {term for text in texts for term in terms(text)}
