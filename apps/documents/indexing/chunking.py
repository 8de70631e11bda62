"""Pages become chunk drafts: pure, deterministic, and no chunk over the limit whatever the input.

Chunks end at paragraph, line, sentence and word borders where they can (Chinese sentence marks
included, so that a quoted passage rarely starts in mid-sentence). A run without any border is cut
between graphemes. Each chunk is a literal span of its page's text.
"""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import NAMESPACE_OID, UUID, uuid5

from apps.core.text.comparable import comparable
from apps.core.text.graphemes import opening

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from apps.documents.reading.pages import Heading, PageText

SEPARATORS = [
    "\n\n", "\n", "。", "！", "？", "；", ". ", "! ", "? ", "; ", "，", "、", ", ", " ",
]  # fmt: skip
HEADING_SEPARATOR = " > "
HEADING_PATH_MAX_CHARS = 200


@dataclass(frozen=True, slots=True)
class ChunkDraft:
    """A chunk that is not stored yet: `content == page.text[start_char:end_char]`."""

    order_index: int
    content: str
    page_number: int | None
    start_char: int
    end_char: int
    heading_path: str


def split_pages(
    pages: Iterable[PageText], *, chunk_size: int, chunk_overlap: int
) -> list[ChunkDraft]:
    """Return the chunks of a document in reading order; sizes are in characters."""
    # 35 MB and 0.3 s that only a process that splits should pay.
    from apps.documents.indexing.span_splitter import SpanSplitter  # noqa: PLC0415

    splitter = SpanSplitter(SEPARATORS, chunk_size=chunk_size, chunk_overlap=chunk_overlap)
    drafts: list[ChunkDraft] = []
    for page in pages:
        headings = _HeadingPaths(page.headings)
        for start, end in splitter.spans(page.text):
            drafts.append(
                ChunkDraft(
                    order_index=len(drafts),
                    content=page.text[start:end],
                    page_number=page.number,
                    start_char=start,
                    end_char=end,
                    heading_path=headings.at(start),
                )
            )
    return drafts


def chunk_id(document_id: UUID, draft: ChunkDraft) -> UUID:
    """Return the chunk's id: the same document, index and text always give the same id."""
    return uuid5(NAMESPACE_OID, f"{document_id}:{draft.order_index}:{draft.content}")


def embedding_text(heading_path: str, content: str) -> str:
    """Return what is embedded for a chunk: its text, led by the headings that it stands under."""
    if not heading_path or heading_path.rpartition(HEADING_SEPARATOR)[2] in content:
        return comparable(content)
    return comparable(f"{heading_path}\n{content}")


class _HeadingPaths:
    """The headings that any place of a page stands under."""

    def __init__(self, headings: Sequence[Heading]) -> None:
        self._offsets = [heading.offset for heading in headings]
        self._paths = [""]
        open_headings: list[Heading] = []
        for heading in headings:
            while open_headings and open_headings[-1].level >= heading.level:
                open_headings.pop()
            open_headings.append(heading)
            self._paths.append(_joined_titles(open_headings))

    def at(self, position: int) -> str:
        """Return the titles from the outermost heading to the nearest one, or ""."""
        return self._paths[bisect.bisect_right(self._offsets, position)]


def _joined_titles(headings: Sequence[Heading]) -> str:
    """Return the path within its limit; the outermost titles are left out first."""
    titles = [heading.title for heading in headings if heading.title]
    while len(titles) > 1 and len(HEADING_SEPARATOR.join(titles)) > HEADING_PATH_MAX_CHARS:
        del titles[0]
    return opening(HEADING_SEPARATOR.join(titles), HEADING_PATH_MAX_CHARS)
