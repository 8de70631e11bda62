"""Finds and normalises citation labels while an answer streams (pure).

Labels come out whole and as `[S1]`; the variants that models write (`[s1]`, `【S1】`, `[[S1]]`,
`[S1, S2]`, `[S1-S3]`, `(S1)`, `[来源：S1]`, `\\[S1\\]`, with invisible characters in between) are
rewritten. Nothing in code is a label. The stream stops at the first label that the evidence does
not have: no dead link is ever shown. What only Markdown or HTML turns into a look-alike of such a
label (`[**S9**]`, `&#91;S9]`) fails the answer at its end.
"""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

LONGEST_HELD = 400  # characters that may wait for the end of a label
LONGEST_CODE = 2000  # characters of code in a line; what is longer is text with a stray backtick
LARGEST_RANGE = 8

# Unicode's Default_Ignorable_Code_Point: drawn as nothing, so that a label may hide behind them.
INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff"
)
_HIDDEN = re.compile(f"[{INVISIBLE}]+")
_GAP = rf"[\s{INVISIBLE}]*+"  # possessive: long gaps must not be tried again and again
_NUMBER = rf"\d(?:[{INVISIBLE}]*+\d)*+"
_SPECIAL = re.compile(r"[`\[【［(（\n\\]")
_ITEM = rf"[SsＳｓ]{_GAP}-?{_NUMBER}(?:{_GAP}[-–—~～至到]{_GAP}[SsＳｓ]?{_NUMBER})?"
_PREFIX = rf"(?:\^|(?:来源|资料|出处|引用|sources?|refs?){_GAP}[:：]?{_GAP})?"
_JOINT = rf"(?:{_GAP}(?:[,，、;；/&和与及]|and){_GAP}|\s{_GAP})"
_BODY = rf"{_GAP}{_PREFIX}{_ITEM}(?:{_JOINT}{_PREFIX}{_ITEM})*{_GAP}"
_OPEN, _CLOSE = r"\\?[\[【［]", r"\\?[\]】］]"
_BRACKETED = rf"(?:{_OPEN}){{2}}{_BODY}(?:{_CLOSE}){{2}}|{_OPEN}{_BODY}{_CLOSE}"
_LABELS = re.compile(rf"{_BRACKETED}|\\?[(（]{_BODY}\\?[)）]", re.IGNORECASE)
_LOOK_ALIKE = re.compile(_BRACKETED, re.IGNORECASE)
_UNFINISHED = re.compile(
    rf"\\?(?:[\[【［](?:\\?[\[【［])?|[(（])"
    rf"[\sＳｓ\d^\-–—~～至到,，、;；/&和与及:：来源资料出处引用andsourcef{INVISIBLE}]*\\?[\]】］]?\\?\Z",
    re.IGNORECASE,
)
_EMPHASIS = re.compile(r"[*\\]+")
_INERT = "\u2026"  # stands where a label was put together out of the rests of others
_RANGE = re.compile(r"(-?\d+)(?:\s*[-–—~～至到]\s*[SsＳｓ]?(\d+))?")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^\n]*)(?:\n|\Z)")
_UNFINISHED_FENCE = re.compile(r" {0,3}(?:`*|`{3,}[^\n]*|~{0,2}|~{3,}[^\n]*)\Z")
_TICKS = re.compile(r"`+")
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n")
_MAKES_LINK = ("(", ":", "[")  # Markdown would read a label and one of these as a link


class CitationStream:
    """Rewrites the pieces of one answer; `allowed` holds labels such as "S1".

    `cited` lists the labels in the order of their first use. `invalid` is the first label that is
    not allowed: from there on nothing more is returned.
    """

    def __init__(self, allowed: Collection[str]) -> None:
        self._allowed = frozenset(allowed)
        self._buffer = ""
        self._is_line_start = True
        self._fence: str | None = None
        self._neighbours: set[str] = set()  # labels directly before, without text in between
        self._prose: list[str] = []  # what was shown outside code, without its labels
        self.cited: list[str] = []
        self.invalid: str | None = None

    def withdraw(self, labels: Collection[str]) -> None:
        """Stop at these labels too from here on."""
        self._allowed -= set(labels)

    def feed(self, text: str) -> str:
        """Return what of the text so far is decided and was not returned before."""
        self._buffer += text
        return self._scan(is_final=False)

    def flush(self) -> str:
        """Return the held rest at the end of the answer."""
        shown = self._scan(is_final=True)
        if self.invalid is None:
            self.invalid = _look_alike("".join(self._prose), self._allowed)
        return shown

    def _scan(self, *, is_final: bool) -> str:
        shown: list[str] = []
        while self._buffer and self.invalid is None:
            piece = self._next(is_final=is_final)
            if piece is None:
                break
            shown.append(piece)
        return "".join(shown)

    def _next(self, *, is_final: bool) -> str | None:
        if self._fence is not None:
            return self._fenced_line(is_final=is_final)
        if self._is_line_start:
            if not is_final and _UNFINISHED_FENCE.match(self._buffer):
                return None
            fence = _FENCE.match(self._buffer)
            if fence and not ("`" in fence[1] and "`" in fence[2]):
                self._fence = fence[1]
                return self._take(fence.end(), is_code=True)
        special = _SPECIAL.search(self._buffer)
        if special is None:
            return self._take(len(self._buffer))
        if special.start() > 0:
            return self._take(special.start())
        if special[0] == "\n":
            return self._take(1)
        return self._in_line(special[0], is_final=is_final)

    def _in_line(self, special: str, *, is_final: bool) -> str | None:
        if special == "\\":
            return self._escaped(is_final=is_final)
        return (self._code_span if special == "`" else self._bracket)(is_final=is_final)

    def _escaped(self, *, is_final: bool) -> str | None:
        follower = self._buffer[1:2]
        if not follower:
            return self._take(1) if is_final else None
        if follower in "[【［(（":
            return self._bracket(is_final=is_final)
        return self._take(2 if follower in "\\`" else 1)

    def _fenced_line(self, *, is_final: bool) -> str | None:
        end = self._buffer.find("\n") + 1 or (len(self._buffer) if is_final else 0)
        if end == 0:
            return None
        line = self._buffer[:end].strip()
        opened = self._fence or ""
        if len(line) >= len(opened) and not line.strip(opened[0]):
            self._fence = None
        return self._take(end, is_code=True)

    def _code_span(self, *, is_final: bool) -> str | None:
        ticks = _TICKS.match(self._buffer)
        length = ticks.end() if ticks else 0
        if length == len(self._buffer) and not is_final:
            return None
        close = re.compile(rf"(?<!`)`{{{length}}}(?!`)").search(self._buffer, length)
        paragraph = _PARAGRAPH_END.search(self._buffer, length)
        if paragraph and (close is None or paragraph.start() < close.start()):
            return self._take(length)
        if (close.end() if close else len(self._buffer)) > LONGEST_CODE:
            return self._take(length)
        if close is None:
            return self._take(length) if is_final else None
        if close.end() == len(self._buffer) and not is_final:
            return None
        return self._take(close.end(), is_code=True)

    def _bracket(self, *, is_final: bool) -> str | None:
        match = _LABELS.match(self._buffer, 0, LONGEST_HELD)
        if match is None:
            may_become_one = _UNFINISHED.match(self._buffer[: LONGEST_HELD + 1])
            is_short = len(self._buffer) <= LONGEST_HELD
            return None if may_become_one and is_short and not is_final else self._take(1)
        labels = _labels_of(match[0])
        unknown = [label for label in labels if label not in self._allowed]
        if unknown and match[0].lstrip("\\")[0] in "(（":
            return self._take(1)
        if unknown:
            self.invalid = unknown[0]
            return ""
        self._buffer = self._buffer[match.end() :]
        self._is_line_start = False
        return self._cite(labels)

    def _cite(self, labels: list[str]) -> str:
        shown = ""
        for label in labels:
            if label in self._neighbours:
                continue
            self._neighbours.add(label)
            shown += f"[{label}]"
            if label not in self.cited:
                self.cited.append(label)
        self._prose.append(_INERT)
        return shown

    def _take(self, length: int, *, is_code: bool = False) -> str:
        text, self._buffer = self._buffer[:length], self._buffer[length:]
        self._prose.append(_INERT if is_code else text)
        self._is_line_start = text.endswith("\n")
        gap = " " if self._neighbours and text.startswith(_MAKES_LINK) else ""
        self._neighbours.clear()
        return gap + text


def without_labels(text: str) -> str:
    """Return `text` without anything that looks like a label, code included.

    A label that only comes about when another one is taken out leaves a mark that joins nothing.
    """
    return _LABELS.sub(_INERT, _LABELS.sub("", text))


def _look_alike(prose: str, allowed: Collection[str]) -> str | None:
    """Return the first label outside `allowed` that `prose` would show once it is rendered."""
    shown = _EMPHASIS.sub("", unescape(prose))
    for match in _LOOK_ALIKE.finditer(shown):
        unknown = [label for label in _labels_of(match[0]) if label not in allowed]
        if unknown and len(match[0]) <= LONGEST_HELD:
            return unknown[0]
    return None


def _labels_of(group: str) -> list[str]:
    labels: list[str] = []
    for first, last in _RANGE.findall(_HIDDEN.sub("", group)):
        low, high = int(first[-9:]), int((last or first)[-9:])
        is_sane = len(first) < LARGEST_RANGE and 0 <= high - low < LARGEST_RANGE
        numbers = range(low, high + 1) if is_sane else [-1]
        labels += [f"S{number}" for number in numbers]
    return labels
