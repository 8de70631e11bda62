"""Cuts text where a reader sees a border: never inside a flag, an emoji sequence or an accent."""

from __future__ import annotations

import re
from itertools import islice

import regex

# Code points of a grapheme, in the mean of a cut text: marks without end are cut all the same.
MEAN_CODE_POINTS = 8

_GRAPHEME = regex.compile(r"\X")
# Between two of these there is always a grapheme border.
_PLAIN_PAIR = re.compile(
    "[ -~À-ɏА-я\u3001-\u3029\u3041-\u3096\u30a1-\u30fe\u3400-\u9fff\uac00-\ud7a3\uff01-\uff9d]{2}"
)


def opening(text: str, limit: int) -> str:
    """Return the first `limit` graphemes of `text`, at most 8 times as many code points."""
    if len(text) <= limit:
        return text
    most = limit * MEAN_CODE_POINTS
    # A slice, since the pattern looks back over a whole row of flags.
    first = islice(_GRAPHEME.finditer(text[: most + 1]), limit)
    ends = [match.end() for match in first if match.end() <= most]
    return text[: ends[-1] if ends else most]


def shortened(text: str, limit: int) -> str:
    """Return `text`, or its first `limit` graphemes with an ellipsis."""
    kept = opening(text, limit)
    return text if kept == text else f"{kept.rstrip()}…"


def border_before(text: str, latest: int, *, start: int = 0) -> int:
    """Return the last grapheme border after `start` up to `latest`, `latest` without one."""
    if _PLAIN_PAIR.match(text, latest - 1):
        return latest
    border = 0
    for grapheme in _GRAPHEME.finditer(text[start : latest + 1]):
        if start + grapheme.end() > latest:
            break
        border = grapheme.end()
    return start + border if border else latest
