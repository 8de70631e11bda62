"""Passages become sentences that can be quoted: whole, without markup and without foreign labels.

A table row is read with its header, also where a PDF's text has lost the columns; a 「标签：值」
line stays whole. A line break inside a paragraph (text out of a PDF) ends no sentence. Text that
speaks to a model instead of a reader ("ignore all previous instructions") is not evidence and is
left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from apps.llm.embedded.words import HAN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from apps.core.passages import Passage

Form = Literal["prose", "item", "row"]  # a label line is a row
LineKind = Literal["nothing", "table", "label", "text"]

MAX_CHARS = 220  # of a Chinese sentence; longer ones are divided at weaker marks
MAX_CHARS_ENGLISH = 450
MIN_CHARS = 4  # letters and digits; what is shorter is a rest of markup or references
MIN_WRAPPED_WIDTH = 40  # a shorter line was ended on purpose, a longer one was wrapped
WRAPPED_SHARE = 0.75  # of the widest line: what is narrower was ended on purpose, too
MIN_TABLE_LINES = 3  # a header and two rows

_PREFIX = r"(?:\^|(?:来源|资料|出处|引用|sources?|refs?)\s*[:：]?\s*)?"
_ITEM = r"(?:[SＳ]\s?-?\d+|\d{1,2})(?:\s*[-–—~～至到]\s*(?:[SＳ]?\d+))?"
_REFERENCE = re.compile(  # a reference of the document, or what would look like a label of ours
    rf" ?[\[【［(（]{{1,2}}\s*{_PREFIX}{_ITEM}"
    rf"(?:(?:\s*(?:[,，、;；/&和与及]|and)\s*|\s+){_PREFIX}{_ITEM})*"
    r"\s*[\]】］)）]{1,2}",
    re.IGNORECASE,
)
_TAGS = (
    "a|abbr|b|blockquote|br|center|code|del|details|div|em|font|h[1-6]|hr|i|iframe|img|ins|kbd|li"
    "|mark|ol|p|pre|script|small|span|strong|style|sub|summary|sup|table|tbody|td|th|thead|tr|u|ul"
)
_MARKUP = (
    (re.compile(r"!\[([^\]]*)\]\([^)]*\)"), r"\1"),
    (re.compile(r"\[([^\]]+)\]\([^)]*\)"), r"\1"),
    (re.compile(r"\[([^\[\]]*)\]\[(?=[^\[\]]*[A-Za-z_-]{3})[^\[\]]*\]"), r"\1"),
    (re.compile(rf"</?(?:{_TAGS})(?:\s[^<>]*)?/?>", re.IGNORECASE), ""),
    (re.compile(r"(\*\*|__|~~|`+)"), ""),
    (re.compile(r"(?<![\w*])\*(?=\S)([^*]+)\*(?![\w*])"), r"\1"),
    (re.compile(r"\\([\\`*_{}\[\]()#+.!|-])"), r"\1"),
)
_HEADING = re.compile(r"^#{1,6}\s")
_LIST_MARK = re.compile(r"^\s*(?:[-*+•·]\s+|\d{1,2}[.)、]\s*(?=\D)|>\s?)+")
_LABEL_LINE = re.compile(
    rf"^\s*(?:[-*+•]\s+)?[\w{HAN} ·/%&-]{{1,20}}(?:[（(][^（）()：:]{{1,12}}[）)])?"
    r"(?<!\d)[：:]\s*[^\s/]"
)
_CLAUSE = re.compile(r"^\s*第[一二三四五六七八九十百零〇\d]{1,6}[条章节款项]")
_TABLE_ROW = re.compile(r"^\s*\|.*\|\s*$")
_NOISE = re.compile(r"!\[[^\]]*\]\[[^\]]*\]|<!--.*?-->")  # pictures by reference, comments
_PLAIN_ROW = re.compile(rf"^(?=.*[{HAN}])[^\s。！？；;，,：:]+(?: +[^\s。！？；;，,：:]+){{2,}}$")
_LINK_DEFINITION = re.compile(r"^\s*\[[^\]]+\]:\s+\S+")
_TABLE_RULE = re.compile(r"^[\s|:\-]+$")
_END = re.compile(
    r"(?:[。！？!?…]+[”’」』）)\]】\"']*(?:\s*[\[【]\s*S?\d{1,2}\s*[\]】])*)"
    r"|(?:(?<![A-Z])(?<!\b(?:Mr|Ms|Dr|St|No|vs|Jr|Sr|Co))(?<!\b(?:Mrs|Inc|Ltd|etc|Gen|Col))\.[\"'”’)\]]*"
    r"(?:\s*\[\d{1,2}\])*(?=\s+[^a-z]|\s*$))"
)
_SPACED_OUT = re.compile(rf"(?:[{HAN}] ){{3,}}[{HAN}]")  # some PDFs have a space after each
_WEAK_MARKS = ("；", ";", "，", ", ", "、")
_INSTRUCTION = re.compile(
    r"忽略.{0,12}(?:指令|规则|提示|要求|内容|指示)|(?:无视|不要理会).{0,8}(?:指令|规则|提示)"
    r"|(?:系统|system)\s*(?:提示词?|prompt)|只(?:能|需|要|可以)?(?:回答|回复|输出)[“\"「:：]"
    r"|(?:ignore|disregard|forget)\b.{0,30}\b(?:instructions?|rules?|prompts?)\b"
    r"|\byou are now\b|\b(?:reply|respond|answer) only with\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence that may be quoted.

    `passage_index` counts the passages from 0, `position` the sentences of a passage. `context` is
    the sentence before it. `is_whole` is false for
    prose without an end: a title, or what the passage's border cuts.
    """

    text: str
    passage_index: int
    position: int
    context: str
    is_whole: bool
    is_labelled: bool


def sentences_of(passages: Sequence[Passage]) -> list[Sentence]:
    """Return the sentences of all passages, repeated ones once, in order."""
    found: list[Sentence] = []
    seen: set[str] = set()
    for index, passage in enumerate(passages):
        previous = ""
        for position, (text, form) in enumerate(split(trusted(passage.content))):
            key = re.sub(r"\W", "", text)
            if len(key) >= MIN_CHARS and key not in seen:
                seen.add(key)
                whole = form != "prose" or _ends(text)
                found.append(Sentence(text, index, position, previous, whole, form == "row"))
            previous = text
    return found


def trusted(content: str) -> str:
    """Return a passage without the sentences that instruct a model."""
    pieces = re.split(r"(?<=[。！？!?\n])|(?<=\.)(?=[\sA-Z])", content)
    return "".join(piece for piece in pieces if not _INSTRUCTION.search(piece))


def split(content: str) -> Iterator[tuple[str, Form]]:
    """Yield each sentence of a passage with the form of the block that it stands in."""
    for block, form in _blocks(_NOISE.sub("", content).split("\n")):
        pieces = [block] if form == "row" and len(block) <= MAX_CHARS else _divide(block)
        for piece in pieces:
            text = clean(piece)
            if text:
                yield text, form


def clean(text: str) -> str:
    """Return `text` without markup, references and label look-alikes, on one line."""
    for pattern, instead in _MARKUP:
        text = pattern.sub(instead, text)
    while (stripped := _REFERENCE.sub("", text)) != text:
        text = stripped
    text = _LIST_MARK.sub("", text)
    text = _SPACED_OUT.sub(lambda m: m.group().replace(" ", ""), re.sub(r"\s+", " ", text))
    return text.strip().lstrip("，。、；,;.)）」』”").lstrip()


def _blocks(lines: Sequence[str]) -> Iterator[tuple[str, Form]]:
    """Yield paragraphs, list items, label lines and table rows; headings are left out."""
    wrapped = max(MIN_WRAPPED_WIDTH, WRAPPED_SHARE * max(map(_width, lines), default=0))
    paragraph: list[str] = []
    form: Form = "prose"
    header: list[str] = []
    for line, kind in _lines(lines):
        if paragraph and (
            kind != "text" or _starts_block(line) or _is_ended(paragraph[-1], wrapped)
        ):
            yield _joined(paragraph), form
            paragraph = []
        row, header = _table_row(line, header) if kind == "table" else ("", [])
        if row or kind == "label":
            yield row or line, "row"
        elif kind == "text":
            form = form if paragraph else "item" if _LIST_MARK.match(line) else "prose"
            paragraph.append(_LIST_MARK.sub("", line))
    if paragraph:
        yield _joined(paragraph), form


def _lines(lines: Sequence[str]) -> Iterator[tuple[str, LineKind]]:
    """Yield the lines with their kinds; the rows of a plain table are led by its header.

    A PDF's text keeps a table's lines but not its columns: lines of three and more words without
    punctuation, the first one without a figure, the others with one.
    """
    start = 0
    while start < len(lines):
        end = start
        while end < len(lines) and _PLAIN_ROW.match(lines[end].strip()):
            end += 1
        table = [line.strip() for line in lines[start:end]]
        if len(table) >= MIN_TABLE_LINES and _is_header(table):
            yield from ((f"{table[0]}：{row}", "label") for row in table[1:])
        else:
            end = max(end, start + 1)
            yield from ((line, _line_kind(line)) for line in lines[start:end])
        start = end


def _is_header(table: Sequence[str]) -> bool:
    return not re.search(r"\d", table[0]) and all(re.search(r"\d", row) for row in table[1:])


def _line_kind(line: str) -> LineKind:
    if _TABLE_ROW.match(line):
        return "table"
    if _HEADING.match(line) or not line.strip() or line.lstrip().startswith("```"):
        return "nothing"
    if _LINK_DEFINITION.match(line):
        return "nothing"
    return "label" if _LABEL_LINE.match(line) else "text"


def _starts_block(line: str) -> bool:
    return bool(_LIST_MARK.match(line) or _CLAUSE.match(line))


def _is_ended(line: str, wrapped: float) -> bool:
    return _ends(line.strip()) or _width(line) < wrapped


def _width(line: str) -> int:
    return sum(2 if ord(c) > 0x2E80 else 1 for c in line)  # the first CJK characters


def _ends(text: str) -> bool:
    return bool(re.search(r"[。！？!?.…；;][”’」』）)\]】\"']*$", text))


def _joined(lines: Sequence[str]) -> str:
    text = lines[0].strip()
    for line in lines[1:]:
        piece = line.strip()
        glue = "" if re.search(f"[{HAN}，。；：、]$", text) else " "
        text = f"{text}{glue}{piece}"
    return text


def _table_row(line: str, header: list[str]) -> tuple[str, list[str]]:
    """Return the row as a sentence ("" for header and rule) and the header to go on with."""
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    if _TABLE_RULE.match(line):
        return "", header
    if not header:
        return "", cells
    colon, comma = ("：", "；") if re.search(f"[{HAN}]", line + "".join(header)) else (": ", "; ")
    named = zip(header, cells, strict=False)
    return comma.join(
        f"{name}{colon}{cell}" if name else cell for name, cell in named if cell
    ), header


def _divide(block: str) -> list[str]:
    """Divide a paragraph into sentences, and an overlong sentence at its weaker marks."""
    pieces: list[str] = []
    start = 0
    for match in _END.finditer(block):
        pieces.append(block[start : match.end()])
        start = match.end()
    pieces.append(block[start:])
    limit = MAX_CHARS if re.search(f"[{HAN}]", block) else MAX_CHARS_ENGLISH
    return [part for piece in pieces for part in _shortened(piece.strip(), limit)]


def _shortened(piece: str, limit: int) -> Iterator[str]:
    """Yield parts of at most `limit` characters, cut at the last mark that fits, or anywhere."""
    while len(piece) > limit:
        cuts = (piece.rfind(mark, limit // 3, limit) + len(mark) for mark in _WEAK_MARKS)
        cut = next((c for c in cuts if c > limit // 3), limit)
        yield piece[:cut]
        piece = piece[cut:]
    if piece:
        yield piece
