"""Markdown as text: what no reader sees goes, the headings are found; nothing is rendered.

Gone are embedded data, HTML comments, struck text (it says what no longer holds) and front matter,
whose title becomes the outermost heading. A footnote stands behind each paragraph, and in each
table row, that refers to it. The rows of a table have pipes at both ends. Other raw HTML stays as
text; code stays as it is. Fences and HTML blocks hold no headings.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

from apps.core.text.graphemes import opening
from apps.documents.reading.pages import Heading

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from markdown_it.token import Token

TITLE_MAX_CHARS = 200
# What follows the comma of a data URI; shorter ones are quoted examples and stay.
EMBEDDED_MIN_CHARS = 64
# The line ends that a wrapped Base64 text may hold before at least this many characters.
WRAPPED_MIN_CHARS = 40
LONGEST_CODE = 2000  # characters of a span of code: a longer one is a stray mark
LONGEST_REPEATED = 300  # characters of a footnote; a longer one stands at its first reference only
HEADER_MAX_CHARS = 200  # of a table; the last titles of a longer one are left out
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
_SPAN_OF_CODE = (  # or an escaped mark: what stays as it is
    r"(?P<kept>\\.|(?<!`)(?P<ticks>`+)(?!`)"
    rf"(?:(?!\n[ \t]*\n).){{1,{LONGEST_CODE}}}?(?<!`)(?P=ticks)(?!`))"
)
_COMMENT = re.compile(rf"{_SPAN_OF_CODE}|<!--(?:-?>|(?:(?!<!--|-->).)*-->)", re.DOTALL)
_COMMENT_IN_HTML = re.compile(r"<!--(?:-?>|.*?(?:-->|(?=\n*\Z)))", re.DOTALL)  # or unclosed
_STRUCK = re.compile(
    rf"{_SPAN_OF_CODE}|(?<!~)~~(?![~\s])(?:(?!~~|\n[ \t]*\n).)*(?<!\s)~~(?!~)"
    r"|<(?P<tag>del|s|strike)(?:\s[^<>]*)?>(?:(?!<(?P=tag)\b).)*?</(?P=tag)\s*>",
    re.IGNORECASE | re.DOTALL,
)
_TO_STRIKE = re.compile(r"~~|</(?:del|s|strike)\s*>", re.IGNORECASE)
_FOOTNOTE = re.compile(
    r"^ {0,3}\[\^([^\]\s]+)\]:[ \t]+(.+(?:\n(?:[ ]{2,}|\t).+)*)\n?", re.MULTILINE
)
_REFERRED = re.compile(r"\[\^([^\]\s]+)\](?!:)")
_ROW = re.compile(r"^[ \t]*\|.*$", re.MULTILINE)
_BARE_RULE = re.compile(
    r"^ {0,3}:?-+:?[ \t]*\|[-:| \t]*$", re.MULTILINE
)  # of a table, no outer pipe
_YAML_LINE = re.compile(r"[ \t]*(?:$|#|- |-$|[\[\]{}]|[^\s:][^:]*:(?:[ \t]|$))|[ \t]+\S")


def drop_embedded_data(text: str) -> tuple[str, int]:
    """Return `text` with each data URI cut to its type and an ellipsis, and their number."""
    return _EMBEDDED.subn(r"\1…", text)


def read_markdown(source: str) -> tuple[str, tuple[Heading, ...]]:
    """Return the text that a reader sees of a Markdown source, and its headings."""
    body_start = _front_matter_end(source)
    title = _FRONT_TITLE.search(source, 0, body_start)
    text = _with_outer_pipes(_without_struck(_without_comments(source[body_start:])))
    text = _with_footnotes_in_place(text)
    if not text.strip():  # nothing but front matter: then that is what the file says
        return source[:body_start], ()
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
    header = COLUMN_SEPARATOR.join(" ".join(_plain(cell).split()) for cell in cells)
    if len(header) <= HEADER_MAX_CHARS:
        return header
    return header[:HEADER_MAX_CHARS].rpartition(COLUMN_SEPARATOR)[0]


def _without_comments(text: str) -> str:
    """Return `text` without HTML comments; one without an end ends with its block of HTML."""
    if "<!--" not in text:
        return text
    kept: list[str] = []
    for piece, kind in _by_kind(text, ("fence", "code_block", "html_block")):
        if kind == "html_block":
            kept.append(_COMMENT_IN_HTML.sub("", piece))
        else:
            kept.append(piece if kind else _COMMENT.sub(_kept, piece))
    return "".join(kept)


def _without_struck(text: str) -> str:
    """Return `text` without ~~struck~~ text and the elements <del>, <s> and <strike>."""
    if not _TO_STRIKE.search(text):
        return text
    pieces = _by_kind(text, ("fence", "code_block"))
    return "".join(piece if kind else _STRUCK.sub(_kept, piece) for piece, kind in pieces)


def _kept(match: re.Match[str]) -> str:
    return match["kept"] or ""


def _by_kind(text: str, kinds: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the pieces of `text` in order: blocks of `kinds` with their kind, others with ""."""
    lines = text.splitlines(keepends=True)
    at = 0
    for token in _block_parser().parse(text):
        if token.type in kinds and token.map and token.map[0] >= at:
            yield "".join(lines[at : token.map[0]]), ""
            yield "".join(lines[token.map[0] : token.map[1]]), token.type
            at = token.map[1]
    yield "".join(lines[at:]), ""


def _with_outer_pipes(text: str) -> str:
    """Return `text` with a pipe at both ends of each row of the tables that have none."""
    if not _BARE_RULE.search(text):
        return text
    lines = text.splitlines()
    for token in _block_parser().parse(text):
        if token.type == "table_open" and token.map and not token.level:
            for place in range(*token.map):
                row = lines[place].strip()
                start, end = "" if row.startswith("|") else "| ", "" if row.endswith("|") else " |"
                lines[place] = f"{start}{row}{end}"
    return "\n".join(lines) + "\n"


def _with_footnotes_in_place(text: str) -> str:
    """Return `text` with each footnote where it is referred to, without marks."""
    pieces = list(_by_kind(text, ("fence", "code_block"))) if "[^" in text else []
    notes = {
        match[1]: " ".join(match[2].split())
        for piece, kind in pieces
        if not kind
        for match in _FOOTNOTE.finditer(piece)
    }
    if not notes:
        return text
    left = dict(notes)
    placed = [piece if kind else _with_notes(piece, notes, left) for piece, kind in pieces]
    unused = "".join(f"\n\n{note}" for note in left.values() if note)
    return f"{''.join(placed).rstrip('\n')}{unused}\n"


def _with_notes(text: str, notes: Mapping[str, str], left: dict[str, str]) -> str:
    """Return `text` with its footnotes placed; `left` loses those that are referred to."""

    def note_of(name: str) -> str:
        is_first = bool(left.pop(name, ""))
        return notes[name] if is_first or len(notes[name]) <= LONGEST_REPEATED else ""

    def in_row(match: re.Match[str]) -> str:
        note = note_of(match[1]) if match[1] in notes else match[0]
        return f" ({note.rstrip('.。')})" if note and match[1] in notes else note

    paragraphs: list[str] = []
    for paragraph in re.split(r"(\n[ \t]*\n+)", text):
        body = _ROW.sub(lambda row: _REFERRED.sub(in_row, row[0]), _FOOTNOTE.sub("", paragraph))
        names = [name for name in dict.fromkeys(_REFERRED.findall(body)) if name in notes]
        body = _REFERRED.sub(lambda match: "" if match[1] in notes else match[0], body)
        said = [note for note in map(note_of, names) if note]
        paragraphs.append("\n".join([body.rstrip("\n"), *said]) if said else body)
    return "".join(paragraphs)


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
