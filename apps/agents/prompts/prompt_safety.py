"""Makes document text harmless as data of a prompt: it can neither end its block nor cite (pure).

Only the look of our own delimiters, of labels and of the tokens with which models mark roles and
tool results is broken. What the text says is left as it is: whether it is believed is a matter of
the prompts, and what comes of it is checked in the answer.
"""

from __future__ import annotations

import re
from unicodedata import normalize

from apps.agents.citations import INVISIBLE, without_labels

_LOOK_AHEAD = 400  # characters behind the gap after "<" in which a tag's name is looked for
_INSTEAD = {"<": "‹", "[": "("}
_NAMES = (
    "evidence", "passage", "passages", "summary", "system", "user_profile", "think",
    "tool_call", "tool_calls", "tool_response", "tool_result", "tool_results", "function_call",
    "function_result", "function_results", "start_of_turn", "end_of_turn",
)  # fmt: skip
# Letters may stand apart; "<|" and "<<SYS" begin the role marks of several models' templates.
_SPELLED = "|".join(r"\s*".join(name) for name in _NAMES)
_TAG = re.compile(rf"\||<\s*/?\s*SYS\b|(?:{_SPELLED})(?!\w)", re.IGNORECASE)
_GAP = re.compile(rf"[\s/／\u2044\u2215{INVISIBLE}]*+")
_OPENING = re.compile(r"[<＜﹤]|\[(?=\s*/?\s*INST\s*\])", re.IGNORECASE)
_UNSEEN = re.compile(f"[{INVISIBLE}]+")


def as_data(text: str) -> str:
    """Return document text that can neither end its block nor pass for one of our labels."""
    text = without_labels(text)

    def instead(match: re.Match[str]) -> str:
        if match[0] == "[":
            return _INSTEAD["["]
        gap = _GAP.match(text, match.end())
        start = gap.end() if gap else match.end()
        following = _UNSEEN.sub("", text[start : start + _LOOK_AHEAD])
        return _INSTEAD["<"] if _TAG.match(normalize("NFKC", following)) else match[0]

    return _OPENING.sub(instead, text)
