"""Markdown as text: what no reader sees goes, the headings are found; nothing is rendered.

Gone are embedded data, HTML comments, struck text (it says what no longer holds) and front matter,
whose title becomes the outermost heading. A footnote stands behind the paragraph that refers to
it. Other raw HTML stays as text; code stays as it is. Fences and HTML blocks hold no headings.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

from apps.core.text.graphemes import opening
from apps.documents.reading.pages import Heading

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it.token import Token

TITLE_MAX_CHARS = 200
# What follows the comma of a data URI; shorter ones are quoted examples and stay.
EMBEDDED_MIN_CHARS = 64
# The line ends that a wrapped Base64 text may hold before at least this many characters.
WRAPPED_MIN_CHARS = 40
LONGEST_INLINE = 2000  # characters between the marks of struck text or code in a line
TABLE_LEVEL = 7  # below the headings
TABLE_HEAD_LINES = 2  # the titles and the rule
COLUMN_SEPARATOR = " | "

_EMBEDDED = re.compile(
    r"(data:[a-z]+/[a-z0-9.+-]+(?:;[a-z0-9=._-]+)*,)"
    rf"[^\s\"'<>()]{{{EMBEDDED_MIN_CHARS},}}"
    rf"(?:\n[ \t]*[a-z0-9+/=]{{{WRAPPED_MIN_CHARS},}}(?=[\s\"'<>)]|$))*"
    r"(?:\n[ \t]*[a-z0-9+/]{1,76}={1,2}(?=[\s\"'<>)]|$))?",
    re.IGNORECASE,
)
_FRONT_MATTER = re.compile(
    r"---[ \t]*\n"
    r"(?=[ \t]*(?:[\w\"'.-]+[ \t]*:|#))"  # YAML begins with a key or a comment, a rule does not
    r"((?:(?!(?:---|\.\.\.)[ \t]*(?:\n|$)).*\n)*?)"
    r"(?:---|\.\.\.)[ \t]*(?:\n|$)"
)
_FRONT_TITLE = re.compile(r"^title[ \t]*:[ \t]*(\S.*)$", re.MULTILINE | re.IGNORECASE)
_OPENING = re.compile(
    r"`+|<!--|(?<!~)~~(?![~\s])|<(?P<tag>del|s|strike)(?:\s[^<>\n]{0,200})?>", re.IGNORECASE
)
_FOOTNOTE = re.compile(
    r"^ {0,3}\[\^([^\]\s]+)\]:[ \t]+(.+(?:\n(?:[ ]{2,}|\t).+)*)\n?", re.MULTILINE
)
_REFERRED = re.compile(r"\[\^([^\]\s]+)\](?!:)")
_YAML_LINE = re.compile(r"[ \t]*(?:$|#|- |-$|[\[\]{}]|[^\s:][^:]*:(?:[ \t]|$))|[ \t]+\S")


def drop_embedded_data(text: str) -> tuple[str, int]:
    """Return `text` with each data URI cut to its type and an ellipsis, and their number."""
    return _EMBEDDED.subn(r"\1…", text)


def read_markdown(source: str) -> tuple[str, tuple[Heading, ...]]:
    """Return the text that a reader sees of a Markdown source, and its headings."""
    body_start = _front_matter_end(source)
    title = _FRONT_TITLE.search(source, 0, body_start)
    text = _with_footnotes_in_place(_without_unseen(source[body_start:]))
    if not text.strip():  # nothing but front matter: then that is what the file says
        return source, ()
    headings = find_headings(text)
    name = _plain(title[1].strip().strip("\"'")) if title else ""
    if not name or name in {heading.title for heading in headings}:
        return text, headings
    return text, (Heading(0, 0, name), *headings)


def find_headings(text: str) -> tuple[Heading, ...]:
    """Return the ATX and setext headings of a Markdown text in their order, with plain titles.

    The rows of a table stand under its header ("Model | Price"), a heading below all levels that
    ends with one without a title: so a later chunk of the table still has its columns.
    """
    tokens = _block_parser().parse(text)
    if not any(token.type in {"heading_open", "table_open"} for token in tokens):
        return ()
    lines = [0, *(m.end() for m in re.compile("\n").finditer(text)), len(text)]
    found: list[Heading] = []
    for place, token in enumerate(tokens):
        if token.type == "heading_open" and token.map:
            title = _plain(tokens[place + 1].content)
            found += [Heading(lines[token.map[0]], int(token.tag[1]), title)] if title else []
        elif token.type == "table_open" and token.map:
            start, end = token.map
            titles = _header(tokens[place:])
            found.append(Heading(lines[start + TABLE_HEAD_LINES], TABLE_LEVEL, titles))
            found.append(Heading(lines[min(end, len(lines) - 1)], TABLE_LEVEL, ""))
    return tuple(found)


def _header(tokens: Sequence[Token]) -> str:
    """Return the titles of the columns of the table that the tokens begin with."""
    end = next(place for place, token in enumerate(tokens) if token.type == "thead_close")
    cells = (token.content for token in tokens[:end] if token.type == "inline")
    return COLUMN_SEPARATOR.join(" ".join(_plain(cell).split()) for cell in cells)


def _without_unseen(text: str) -> str:
    """Return `text` without comments and struck text, code apart."""
    if not _OPENING.search(text):
        return text
    kept: list[str] = []
    for piece, is_code in _by_code(text):
        place = 0
        for start, end in () if is_code else _unseen(piece):
            kept.append(piece[place:start])
            place = end
        kept.append(piece[place:])
    return "".join(kept)


def _by_code(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the pieces of `text` in order, each with whether it is a block of code."""
    lines = text.splitlines(keepends=True)
    at = 0
    for token in _block_parser().parse(text):
        if token.type in {"fence", "code_block"} and token.map and token.map[0] >= at:
            yield "".join(lines[at : token.map[0]]), False
            yield "".join(lines[token.map[0] : token.map[1]]), True
            at = token.map[1]
    yield "".join(lines[at:]), False


def _unseen(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans that no reader sees; spans of code are passed over."""
    last_comment_end = text.rfind("-->")
    place = 0
    while opening := _OPENING.search(text, place):
        begin, place = opening.span()
        reach = min(len(text), place + LONGEST_INLINE)
        if opening[0] == "<!--":
            at_line_start = not text[text.rfind("\n", 0, begin) + 1 : begin].strip()
            if place <= last_comment_end:
                place = text.find("-->", place) + len("-->")
            elif at_line_start:
                place = len(text)
            else:
                continue
            yield begin, place
        elif closing := _closing(opening).search(text, place, reach):
            is_within = "\n\n" not in text[place : closing.start()]
            place = closing.end() if is_within else place
            if is_within and opening[0][0] != "`":
                yield begin, place


def _closing(opening: re.Match[str]) -> re.Pattern[str]:
    """Return what ends the span of code or of struck text that begins with `opening`."""
    if opening["tag"]:
        return re.compile(f"</{opening['tag']}>", re.IGNORECASE)
    mark = opening[0]
    return re.compile(rf"(?<!`){mark}(?!`)" if mark[0] == "`" else r"(?<![\s~])~~(?!~)")


def _with_footnotes_in_place(text: str) -> str:
    """Return `text` with each footnote behind the paragraph that refers to it, without marks."""
    notes = {m[1]: " ".join(m[2].split()) for m in _FOOTNOTE.finditer(text)}
    if not notes:
        return text
    paragraphs: list[str] = []
    for paragraph in re.split(r"(\n[ \t]*\n+)", text):
        body = _FOOTNOTE.sub("", paragraph)
        said = [notes.pop(name) for name in _REFERRED.findall(body) if name in notes]
        body = _REFERRED.sub("", body).rstrip("\n") if said else body
        paragraphs.append("\n".join([body, *said]))
    return (
        "".join(paragraphs).rstrip("\n") + "".join(f"\n\n{note}" for note in notes.values()) + "\n"
    )


def _front_matter_end(text: str) -> int:
    """Return where the text after the front matter begins; 0 when there is none."""
    match = _FRONT_MATTER.match(text)
    if match and all(_YAML_LINE.match(line) for line in match[1].split("\n")):
        return match.end()
    return 0


def _plain(source: str) -> str:
    """Return the title that a reader sees, on one line, at most TITLE_MAX_CHARS long."""
    (inline,) = _inline_parser().parseInline(source[: 4 * TITLE_MAX_CHARS])
    text = "".join(_visible(inline.children or ()))
    return opening(" ".join(text.split()), TITLE_MAX_CHARS)


def _visible(tokens: Sequence[Token]) -> list[str]:
    return [
        " " if token.type in {"softbreak", "hardbreak"} else token.content
        for token in tokens
        if token.type != "html_inline"
    ]


@cache
def _block_parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table").disable(["inline", "text_join", "reference"])


@cache
def _inline_parser() -> MarkdownIt:
    return MarkdownIt("commonmark")
