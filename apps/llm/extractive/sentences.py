"""Passages become sentences that can be quoted: whole, without markup and without foreign labels.

A table row is read with its header, also where a PDF's text has lost the columns; a 「标签：值」
line stays whole in a sheet of such lines, and is divided where it begins a paragraph of its own. A
heading is what the sentences under it stand under, never one of them (`headings.py`). A line break
inside a paragraph (text out of a PDF) ends no sentence. Text that speaks to a model instead of a
reader ("ignore all previous instructions") is not evidence and is left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal, NamedTuple

from apps.core.text.comparable import comparable, visible
from apps.core.text.words import HAN
from apps.llm.extractive.headings import (
    contents_lines,
    is_contents_title,
    is_imprint,
    is_underline,
    marked_heading,
    plain_heading,
)
from apps.llm.extractive.titles import HEADING_SEPARATOR

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from apps.core.passages import Passage

Form = Literal["prose", "item", "row", "contents"]  # a label line is a row
BlockForm = Form | Literal["label"]  # a label line that begins a paragraph of its own
LineKind = Literal["nothing", "table", "row", "label", "text", "heading", "contents"]

MAX_CHARS = 220  # of a Chinese sentence; longer ones are divided at weaker marks
MAX_CHARS_ENGLISH = 450
MIN_CHARS = 4  # letters and digits; what is shorter is a rest of markup or references
MIN_WRAPPED_WIDTH = 40  # a shorter line was ended on purpose, a longer one was wrapped
COLUMN_SEPARATOR = " | "  # of a heading that is a table's header
WRAPPED_SHARE = 0.75  # of the widest line: what is narrower was ended on purpose, too
MIN_TABLE_LINES = 3  # a header and two rows
MIN_OWN_LETTERS = 6  # of a sentence after a label: a shorter one is a part of the value

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
_LINK_DEFINITION = re.compile(r"^\s*\[(?!\^)[^\]]+\]:\s+\S+")
_DEFINITION = re.compile(r"^ {0,3}:[ \t]+(\S.*)$")
_DEFINED = re.compile(r"\w: \S")
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
    the sentence before it. `is_whole` is false for prose without an end: a title, or what the
    passage's border cuts. `headings` are the titles that it stands under, outermost first.
    `is_furniture` marks tables of contents and imprints.
    """

    text: str
    passage_index: int
    position: int
    context: str
    is_whole: bool
    is_labelled: bool
    headings: tuple[str, ...] = ()
    is_furniture: bool = False


class _Block(NamedTuple):
    """The lines of a paragraph, an item or a row, joined."""

    text: str
    form: BlockForm
    headings: tuple[str, ...]


class _Piece(NamedTuple):
    """A sentence of a block."""

    text: str
    form: Form
    headings: tuple[str, ...]


def sentences_of(passages: Sequence[Passage]) -> list[Sentence]:
    """Return the sentences of all passages, repeated ones once, in order."""
    found: list[Sentence] = []
    seen: set[str] = set()
    for index, passage in enumerate(passages):
        previous = ""
        pieces = _pieces(trusted(passage.content), visible(passage.heading_path))
        for position, (text, form, headings) in enumerate(pieces):
            key = re.sub(r"\W", "", text)
            if len(key) >= MIN_CHARS and key not in seen:
                seen.add(key)
                found.append(
                    Sentence(
                        text,
                        index,
                        position,
                        context=previous,
                        is_whole=form != "prose" or _ends(text),
                        is_labelled=form == "row",
                        headings=headings,
                        is_furniture=form == "contents" or is_imprint(text),
                    )
                )
            previous = text
    return found


def trusted(content: str) -> str:
    """Return a passage without invisible characters and sentences that instruct a model."""
    pieces = re.split(r"(?<=[。！？!?\n])|(?<=\.)(?=[\sA-Z])", visible(content))
    return "".join(piece for piece in pieces if not _INSTRUCTION.search(comparable(piece)))


def split(content: str) -> Iterator[tuple[str, Form]]:
    """Yield each sentence of a passage with the form of the block that it stands in."""
    for piece in _pieces(content, ""):
        yield piece.text, piece.form


def _pieces(content: str, heading_path: str) -> Iterator[_Piece]:
    """Yield the sentences of a passage that begins under `heading_path`."""
    lines = _with_definitions(_NOISE.sub("", content).split("\n"))
    for block in _blocks(lines, heading_path):
        for text, form in _divided(block):
            if cleaned := clean(text):
                yield _Piece(cleaned, form, block.headings)


def _with_definitions(lines: Sequence[str]) -> list[str]:
    """Return the lines with each definition of a definition list behind its term."""
    joined: list[str] = []
    for line in lines:
        definition = _DEFINITION.match(line)
        while definition and joined and not joined[-1].strip():
            joined.pop()
        if not definition or not joined:
            joined.append(line)
        elif _DEFINED.search(joined[-1]):
            joined.append(f"{joined[-1].partition(': ')[0]}: {definition[1]}")
        else:
            joined[-1] += f": {definition[1]}"
    return joined


def _divided(block: _Block) -> Iterator[tuple[str, Form]]:
    """Yield the sentences of a block; those after a label's own are prose.

    What is too short to be a sentence of its own goes on with the label's value (淡季40元。).
    """
    if block.form == "row" and len(block.text) <= MAX_CHARS:
        yield block.text, "row"
        return
    pieces = _divide(block.text)
    if block.form != "label":
        yield from ((piece, block.form) for piece in pieces)
        return
    own = (i for i, piece in enumerate(pieces) if i and _letters(piece) >= MIN_OWN_LETTERS)
    end = next(own, len(pieces))
    yield _joined(pieces[:end]), "row"
    yield from ((piece, "prose") for piece in pieces[end:])


def _letters(text: str) -> int:
    return len(re.findall(r"[^\W\d_]", text))


def clean(text: str) -> str:
    """Return `text` without markup, references and label look-alikes, on one line."""
    for pattern, instead in _MARKUP:
        text = pattern.sub(instead, text)
    while (stripped := _REFERENCE.sub("", text)) != text:
        text = stripped
    text = _LIST_MARK.sub("", text)
    text = _SPACED_OUT.sub(lambda m: m.group().replace(" ", ""), re.sub(r"\s+", " ", text))
    return text.strip().lstrip("，。、；,;.)）」』”").lstrip()


class _Line(NamedTuple):
    text: str  # the title of a heading
    kind: LineKind
    level: int = 0


class _Headings:
    """The headings that the line now read stands under."""

    def __init__(self, heading_path: str) -> None:
        titles = heading_path.split(HEADING_SEPARATOR) if heading_path else []
        last = titles[-1].split(COLUMN_SEPARATOR) if titles else []
        self.columns = last if len(last) > 1 else []  # of a table that began before the passage
        self._open = list(enumerate(titles[:-1] if self.columns else titles, start=1))

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(title for _, title in self._open)

    def enter(self, heading: _Line) -> None:
        while self._open and self._open[-1][0] >= heading.level:
            self._open.pop()
        self._open.append((heading.level, clean(heading.text)))


def _blocks(lines: Sequence[str], heading_path: str) -> Iterator[_Block]:
    """Yield paragraphs, list items, label lines and table rows under their headings."""
    wrapped = max(MIN_WRAPPED_WIDTH, WRAPPED_SHARE * max(map(_width, lines), default=0))
    above = _Headings(heading_path)
    paragraph: list[str] = []
    form: Form = "prose"
    header = above.columns
    for line in _lines(lines):
        if paragraph and (
            line.kind != "text" or _starts_block(line.text) or _is_ended(paragraph[-1], wrapped)
        ):
            yield _Block(_joined(paragraph), form, above.path)
            paragraph = []
        row, header = _table_row(line.text, header) if line.kind == "table" else ("", [])
        if row:
            yield _Block(row, "row", above.path)
        elif line.kind in {"row", "label", "contents"}:
            yield _Block(line.text, line.kind, above.path)
        elif line.kind == "heading":
            above.enter(line)
        elif line.kind == "text":
            form = form if paragraph else "item" if _LIST_MARK.match(line.text) else "prose"
            paragraph.append(_LIST_MARK.sub("", line.text))
    if paragraph:
        yield _Block(_joined(paragraph), form, above.path)


def _lines(lines: Sequence[str]) -> Iterator[_Line]:
    """Yield the lines with their kinds; the rows of a plain table are led by its header.

    A PDF's text keeps a table's lines but not its columns: lines of three and more words without
    punctuation, the first one without a figure, the others with one.
    """
    contents = contents_lines(lines)
    start = 0
    while start < len(lines):
        end = start
        while end < len(lines) and _PLAIN_ROW.match(lines[end].strip()):
            end += 1
        table = [line.strip() for line in lines[start:end]]
        if len(table) >= MIN_TABLE_LINES and _is_header(table):
            yield from (_Line(f"{table[0]}：{row}", "row") for row in table[1:])
        else:
            end = max(end, start + 1)
            for place in range(start, end):
                yield _contents(lines[place]) if place in contents else _line(lines, place)
        start = end


def _contents(line: str) -> _Line:
    return _Line(line, "nothing" if is_contents_title(line) else "contents")


def _line(lines: Sequence[str], place: int) -> _Line:
    kind = "nothing" if is_underline(lines, place) else _line_kind(lines[place])
    title = marked_heading(lines, place)
    if not title and kind in {"text", "label"}:
        title = plain_heading(lines, place)
    if kind == "label" and any(
        _line_kind(other) == "label" for other in _neighbours(lines, place)
    ):
        kind = "row"
    return _Line(title[1], "heading", title[0]) if title else _Line(lines[place], kind)


def _neighbours(lines: Sequence[str], place: int) -> Sequence[str]:
    return [*lines[max(0, place - 1) : place], *lines[place + 1 : place + 2]]


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
    row = line.strip().removeprefix("|").removesuffix("|")
    cells = [cell.strip() for cell in row.split("|")]
    if _TABLE_RULE.match(line):
        return "", header
    if not header:
        return "", cells
    colon, comma = ("：", "；") if re.search(f"[{HAN}]", line + "".join(header)) else (": ", "; ")
    named = zip_longest(header, cells, fillvalue="")
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
