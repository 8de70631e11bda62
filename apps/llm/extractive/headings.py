"""Lines that are no answer by themselves: headings of plain text, tables of contents, imprints.

Text out of a PDF or a plain file has lost its markup. A heading is known by its form alone: a
short line without a sentence's end or a verb that stands before sentences. Refuses to know any
subject.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from apps.core.text.words import HAN, folded

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_HAN = 20  # of a heading
MAX_WORDS, MAX_CHARS = 9, 70
MAX_IMPRINT_CHARS = 120
PLAIN_LEVEL = 7  # below the six levels of Markdown

_UNDERLINE = re.compile(r"^ {0,3}(?:(=)+|-{2,})[ \t]*$")
_MARKED = re.compile(r"^(#{1,6})\s+(.+?)[\s#]*$")
_NUMBERING = re.compile(
    r"^\s*(?:第\s*[一二三四五六七八九十百\d]+\s*(?P<part>[编章节部分篇])[:：]?|[一二三四五六七八九十]+[、．.]"
    r"|[（(][一二三四五六七八九十\d]+[)）]|(?P<decimal>\d{1,2}(?:\.\d{1,2})*)[.、)]?(?=\s|[^\W\d])"
    r"|(?:chapter|section|part)\s+\w+[.:]?)\s*",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^\s*(?:[-*+•·>]|\|)")
_BOLD = re.compile(r"^\s*(\*\*|__)(.+)\1\s*$")
_RULE = re.compile(r"^\s*[=\-_*]{3,}\s*$")  # under a heading
_STOP = re.compile(r"[。！？!?.…；;，,：:、][”’」』）)\]】\"']*$")
_SENTENCE_END = re.compile(r"[。！？!?.；][”’」』）)\]】\"']*$")
_INNER_STOP = re.compile("[。！？；，;]|[!?] ")
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|does|do|did|must|can|cannot|(?-i:may)|shall|will|should"
    r"|means?|lasts?|holds?|takes?|costs?)\b"
    "|是|(?<![行作])为|应当|必?须|不得|可以|有[一二三四五六七八九十两几\\d]",
    re.IGNORECASE,
)
_FIGURE = re.compile(rf"\d\s*[{HAN}%％]|[$€£¥￥]\s*\d|\d{{4,}}")
_LEADER = re.compile(r"(?:\.{4,}|…{2,}|(?:\. ){3,}|·{4,})\s*\d*\s*$")
_CONTENTS = re.compile(r"^\s*(?:#+\s*)?(?:table of contents|contents|目\s*录)\s*$", re.IGNORECASE)
_IMPRINT = re.compile(
    r"^(?:(?:\w+ )?(?:revision|edition|version)\b|rev\.|printed\b|isbn\b"
    r"|版本号?\s*[:：\d]|第[一二三四五六七八九十\d]+版)"
    rf"|^[{HAN}\s\d]+年[\d\s]+月[\d\s日]*[印编版](?:发|制|写|订)?$",
    re.IGNORECASE,
)
_RIGHTS = re.compile(r"^(?:©|copyright\b|all rights reserved|版权所有)", re.IGNORECASE)
_IMPRINT_ASKED = re.compile(
    r"\b(?:publish|print|edition|revis|version|copyright|isbn)|版|印|发布|修订", re.IGNORECASE
)
_CONTENTS_ASKED = re.compile(
    r"\bcontents\b|\bchapters?\b|\bsections?\b|目录|章节|哪几章", re.IGNORECASE
)


def bare(title: str) -> str:
    """Return a heading without its numbering and page number, folded for comparing."""
    return re.sub(r"\W", "", folded(_NUMBERING.sub("", _LEADER.sub("", title))))


def marked_heading(lines: Sequence[str], place: int) -> tuple[int, str] | None:
    """Return the level and the title when the line at `place` is a Markdown heading."""
    line = lines[place]
    if match := _MARKED.match(line):
        return len(match[1]), match[2]
    rule = _UNDERLINE.match(lines[place + 1]) if place + 1 < len(lines) else None
    if not rule or not re.search(r"\w", line) or _SENTENCE_END.search(line):
        return None
    return (1 if rule[1] == "=" else 2), line.strip()


def is_underline(lines: Sequence[str], place: int) -> bool:
    """Whether the line at `place` only underlines the heading before it."""
    return bool(place and _UNDERLINE.match(lines[place]) and marked_heading(lines, place - 1))


def plain_heading(lines: Sequence[str], place: int) -> tuple[int, str] | None:
    """Return the level and the title when the line at `place` is a heading without markup."""
    line = _BOLD.sub(r"\2", lines[place]).strip()
    if not _has_form(line) or not _starts_alone(lines, place):
        return None
    after = next((other.strip() for other in lines[place + 1 :] if _says_something(other)), "")
    numbered = _NUMBERING.match(line)
    if not after:
        return (_level(line), line) if numbered else None
    if numbered and _shape(line) == _shape(after):  # items of one list
        return None
    return (_level(line), line) if _leads(lines, place, after) else None


def is_contents_title(line: str) -> bool:
    """Whether a line is the title of a table of contents."""
    return bool(_CONTENTS.match(line))


def contents_lines(lines: Sequence[str]) -> set[int]:
    """Return the places of the lines of a table of contents, its title included."""
    found = {i for i, line in enumerate(lines) if _LEADER.search(line)}
    for start in (i for i, line in enumerate(lines) if is_contents_title(line)):
        end = start + 1
        while end < len(lines) and lines[end].strip() and not _SENTENCE_END.search(lines[end]):
            end += 1
        found.update(range(start, end))
    return found


def is_imprint(text: str) -> bool:
    """Whether a sentence only says which edition of a document this is."""
    if len(text) > MAX_IMPRINT_CHARS:
        return False
    return bool(_RIGHTS.search(text) or (_IMPRINT.search(text) and not _VERB.search(text)))


def asks_for_imprint(question: str) -> bool:
    """Whether a question may be answered by an imprint."""
    return bool(_IMPRINT_ASKED.search(question))


def asks_for_contents(question: str) -> bool:
    """Whether a question may be answered by a table of contents."""
    return bool(_CONTENTS_ASKED.search(question))


def _has_form(line: str) -> bool:
    """Whether a line is short, whole and without a verb, a figure or a sentence's mark."""
    title = _NUMBERING.sub("", line)
    if not title or _BULLET.match(line) or _STOP.search(line) or _INNER_STOP.search(title):
        return False
    if (
        re.search("[:：]", title)
        or _VERB.search(title)
        or _FIGURE.search(title)
        or title[0].islower()
    ):
        return False
    if re.search(f"[{HAN}]", title):
        return len(title) <= MAX_HAN
    return len(title) <= MAX_CHARS and len(title.split()) <= MAX_WORDS and len(title) > 2


def _says_something(line: str) -> bool:
    return bool(line.strip()) and not _RULE.match(line)


def _starts_alone(lines: Sequence[str], place: int) -> bool:
    """Whether no unfinished line stands directly before the one at `place`."""
    before = lines[place - 1].strip() if place else ""
    if not before or _SENTENCE_END.search(before) or _MARKED.match(before):
        return True
    return _has_form(before) and (place == 1 or _shape(before) != _shape(lines[place].strip()))


def _leads(lines: Sequence[str], place: int, after: str) -> bool:
    """Whether sentences follow: in the lines up to the next gap, one ends."""
    if is_imprint(after):
        return True
    if _MARKED.match(after) or (_has_form(after) and len(after) <= MAX_CHARS):
        return not lines[place + 1].strip() or bool(_NUMBERING.match(after))
    block: list[str] = []
    for line in lines[place + 1 :]:
        if block and not line.strip():
            break
        if line.strip():
            block.append(line.strip())
    return any(re.search("[。！？；]|[.!?](?:\\s|$)", line) for line in block)


def _shape(line: str) -> str:
    """Return how a line is numbered ("1." and "2." alike), "" when it is not."""
    match = _NUMBERING.match(line)
    return re.sub(r"[^\W_]+", "x", match.group().strip()) if match else ""


def _level(line: str) -> int:
    match = _NUMBERING.match(line)
    if not match:
        return PLAIN_LEVEL
    depth = (match["decimal"] or "").count(".")
    return PLAIN_LEVEL + (1 if match["part"] == "节" else depth)
