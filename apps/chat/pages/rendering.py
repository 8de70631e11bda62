"""A model's Markdown as safe HTML: no raw HTML, no remote content, citations as small buttons.

The text is never trusted. markdown-it escapes HTML, nh3 removes what is not listed here, and only
then are our own buttons put in, at private-use characters that are removed from the text first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import nh3
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from markdown_it.renderer import RendererHTML
    from markdown_it.rules_core import StateCore
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token
    from markdown_it.utils import EnvType, OptionsDict

CITE_OPEN, CITE_CLOSE, CODE_COPY = "\ue000", "\ue001", "\ue002"
_PLACES = re.compile("[\ue000-\ue002]")
_CITATION = re.compile(r"\[S(\d{1,2})\]")
_PLACED_CITATION = re.compile(f" ?{CITE_OPEN}(\\d{{1,2}}){CITE_CLOSE}")  # the button has a margin

LINK_SCHEMES = {"http", "https", "mailto"}
TAGS = {
    "a", "blockquote", "br", "code", "div", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p",
    "pre", "s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
ALIGNMENTS = {"left", "center", "right"}


@dataclass(frozen=True, slots=True)
class Citation:
    """What a label stands for: `place` is the file's name with its page, for screen readers."""

    label: str
    place: str


def render_answer(text: str, citations: Mapping[str, Citation], message_id: UUID) -> SafeString:
    """Return the answer as HTML; a label that is no key of `citations` shows as deleted.

    The buttons submit the form `sources-<message_id>`, so that they work without script.
    """
    html = nh3.clean(
        _parser().render(_PLACES.sub("", text)),
        tags=TAGS,
        attributes={"a": {"href", "title"}, "ol": {"start"}},
        allowed_classes={"div": {"code"}, "td": ALIGNMENTS, "th": ALIGNMENTS},
        url_schemes=LINK_SCHEMES,
        link_rel="noopener nofollow",
    )
    html = html.replace(CODE_COPY, _copy_button())
    html = _PLACED_CITATION.sub(
        lambda match: _citation(f"S{match[1]}", citations, message_id), html
    )
    return mark_safe(html)  # noqa: S308 - cleaned by nh3 above


def _citation(label: str, citations: Mapping[str, Citation], message_id: UUID) -> str:
    number = label.removeprefix("S")
    citation = citations.get(label)
    if citation is None:
        return format_html('<span class="cite-gone">{} {}</span>', number, _("来源已删除"))
    return format_html(
        '<button class="cite" form="sources-{}" name="source" value="{}" aria-label="{}">'
        "{}</button>",
        message_id,
        label,
        _("来源 {number}：{place}").format(number=number, place=citation.place),
        number,
    )


def _copy_button() -> str:
    return format_html(
        '<button class="tool code-copy" type="button" data-copy-code>{}</button>', _("复制")
    )


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    # "[S1]: …" at a line's start would turn the label into a link's definition.
    parser.disable(["reference", "html_block", "html_inline"])
    parser.inline.ruler.before("link", "citation", _parse_citation)
    parser.core.ruler.push("headings", _lower_headings)
    parser.validateLink = _may_link  # type: ignore[method-assign]
    parser.add_render_rule("citation", _render_citation)
    parser.add_render_rule("image", _render_image)
    parser.add_render_rule("fence", _render_code)
    parser.add_render_rule("code_block", _render_code)
    for name in ("td_open", "th_open"):
        parser.add_render_rule(name, _render_cell)
    return parser


def _may_link(url: str) -> bool:
    """Whether the address says for everyone to read which host it leads to.

    `http:path` leads to our own pages, `http://known.example@other` only seems to name its host.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    if parts.scheme == "mailto":
        return True
    return parts.scheme in LINK_SCHEMES and bool(parts.hostname) and "@" not in parts.netloc


def _lower_headings(state: StateCore) -> None:
    """Put an answer's headings under the page's own, which end at the second level."""
    for token in state.tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(6, int(token.tag[1]) + 2)}"


def _parse_citation(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - markdown-it's form
    match = _CITATION.match(state.src, state.pos)
    if match is None:
        return False
    if not silent:
        state.push("citation", "", 0).content = match[1]
    state.pos = match.end()
    return True


def _render_citation(
    _renderer: RendererHTML, tokens: Sequence[Token], index: int, *_rest: object
) -> str:
    return f"{CITE_OPEN}{tokens[index].content}{CITE_CLOSE}"


def _render_image(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    index: int,
    options: OptionsDict,
    env: EnvType,
) -> str:
    """Leave only an image's alternative text: loading it would tell its host that it was read."""
    return nh3.clean_text(renderer.renderInlineAsText(tokens[index].children, options, env))


def _render_code(
    _renderer: RendererHTML, tokens: Sequence[Token], index: int, *_rest: object
) -> str:
    code = nh3.clean_text(tokens[index].content)
    return f'<div class="code">{CODE_COPY}<pre><code>{code}</code></pre></div>\n'


def _render_cell(
    _renderer: RendererHTML, tokens: Sequence[Token], index: int, *_rest: object
) -> str:
    """Turn the alignment into a class: the CSP forbids style attributes."""
    style = str(tokens[index].attrs.get("style", ""))
    alignment = style.removeprefix("text-align:")
    return f'<{tokens[index].tag} class="{alignment}">' if style else f"<{tokens[index].tag}>"
