"""Words about a document's indexing that a template cannot form itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import template
from django.utils.translation import gettext as _

from apps.documents.errors import HOPELESS_CODES
from apps.documents.indexing.progress import remaining_s
from apps.documents.kinds import registry
from apps.documents.web.reflow import reflowed

if TYPE_CHECKING:
    from apps.documents.models import Chunk, Document

register = template.Library()

SECONDS_PER_MINUTE = 60


@register.simple_tag
def remaining(document: Document) -> str:
    """Return about how long indexing still takes, or the empty string when unknown."""
    seconds = remaining_s(document)
    if seconds is None:
        return ""
    if seconds < SECONDS_PER_MINUTE:
        return _("约剩 {n} 秒").format(n=max(1, round(seconds)))
    return _("约剩 {n} 分钟").format(n=round(seconds / SECONDS_PER_MINUTE))


@register.filter
def retry_may_help(document: Document) -> bool:
    """Whether indexing the same file again can end otherwise."""
    return document.error_code not in HOPELESS_CODES


@register.filter
def shown_text(chunk: Chunk) -> str:
    """Return a chunk's text; the line ends of a page's layout are joined."""
    return chunk.content if chunk.page_number is None else reflowed(chunk.content)


@register.simple_tag
def kind_names() -> str:
    """Return the names of the kinds of file that can be uploaded."""
    return ", ".join(registry.labels())


@register.simple_tag
def kind_extensions() -> str:
    """Return their extensions, for the page's script."""
    return " ".join(registry.extensions())


@register.simple_tag
def accepted_files() -> str:
    """Return the `accept` attribute of a field for files."""
    return registry.accepted()
