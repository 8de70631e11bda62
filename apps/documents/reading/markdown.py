"""Markdown as text: embedded data is dropped and the headings are found; nothing is rendered.

Raw HTML stays as text. Fences, HTML blocks and front matter hold no headings.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

from apps.documents.reading.pages import Heading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.token import Token

TITLE_MAX_CHARS = 200
# What follows the comma of a data URI; shorter ones are quoted examples and stay.
EMBEDDED_MIN_CHARS = 64
# The line ends that a wrapped Base64 text may hold before at least this many characters.
WRAPPED_MIN_CHARS = 40

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
_YAML_LINE = re.compile(r"[ \t]*(?:$|#|- |-$|[\[\]{}]|[^\s:][^:]*:(?:[ \t]|$))|[ \t]+\S")


def drop_embedded_data(text: str) -> tuple[str, int]:
    """Return `text` with each data URI cut to its type and an ellipsis, and their number."""
    return _EMBEDDED.subn(r"\1…", text)


def find_headings(text: str) -> tuple[Heading, ...]:
    """Return the ATX and setext headings of a Markdown text in their order, with plain titles."""
    body_start = _front_matter_end(text)
    tokens = _block_parser().parse(text[body_start:])
    if not any(token.type == "heading_open" for token in tokens):
        return ()
    line_starts = [body_start, *(m.end() for m in re.compile("\n").finditer(text, body_start))]
    found = (
        Heading(line_starts[opening.map[0]], int(opening.tag[1]), _plain(content.content))
        for opening, content in pairwise(tokens)
        if opening.type == "heading_open" and opening.map
    )
    return tuple(heading for heading in found if heading.title)


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
    return " ".join(text.split())[:TITLE_MAX_CHARS]


def _visible(tokens: Sequence[Token]) -> list[str]:
    return [
        " " if token.type in {"softbreak", "hardbreak"} else token.content
        for token in tokens
        if token.type != "html_inline"
    ]


@cache
def _block_parser() -> MarkdownIt:
    return MarkdownIt("commonmark").disable(["inline", "text_join", "reference"])


@cache
def _inline_parser() -> MarkdownIt:
    return MarkdownIt("commonmark")
