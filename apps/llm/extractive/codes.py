"""Codes such as E01 or AB-120: a sentence about another code of the same series is no answer."""

from __future__ import annotations

import re
import unicodedata

_CODE = r"(?<![A-Za-z0-9])[A-Za-z]{1,3}-?[0-9]{1,5}(?![A-Za-z0-9])"
_BETWEEN = r"\s*(?:,\s*and|,\s*or|,|、|/|&|and|or|和|与|及|或)\s*"
_LIST = re.compile(rf"{_CODE}(?:{_BETWEEN}{_CODE})+")


def codes(text: str) -> set[str]:
    """Return the codes of `text`, written alike."""
    found = re.findall(_CODE, _folded(text))
    return {code.replace("-", "").upper() for code in found}


def is_about_other(text: str, asked: set[str]) -> bool:
    """Whether `text` holds codes of the series that is asked for, but none that is asked for."""
    held = codes(text)
    return not held & asked and bool({_series(c) for c in held} & {_series(c) for c in asked})


def one_each(question: str) -> list[str]:
    """Return the question once for each code of a list in it ("E01 and E07"), else itself."""
    text = _folded(question)
    match = _LIST.search(text)
    if not match:
        return [question]
    return [
        f"{text[: match.start()]}{code}{text[match.end() :]}"
        for code in re.findall(_CODE, match.group())
    ]


def _series(code: str) -> str:
    return re.sub(r"\d+", "", code)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text)
