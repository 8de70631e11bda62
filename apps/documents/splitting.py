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

import regex
from langchain_text_splitters import RecursiveCharacterTextSplitter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from apps.documents.pages import Heading, PageText

SEPARATORS = [
    "\n\n", "\n", "。", "！", "？", "；", ". ", "! ", "? ", "; ", "，", "、", ", ", " ",
]  # fmt: skip
HEADING_SEPARATOR = " > "
HEADING_PATH_MAX_CHARS = 200

_GRAPHEME = regex.compile(r"\X")


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
    splitter = RecursiveCharacterTextSplitter(
        separators=SEPARATORS,
        keep_separator="end",
        chunk_size=chunk_size,
        chunk_overlap=chunk_overlap,
    )
    drafts: list[ChunkDraft] = []
    for page in pages:
        for start, end in _spans(splitter.split_text(page.text), page.text, chunk_size):
            drafts.append(
                ChunkDraft(
                    order_index=len(drafts),
                    content=page.text[start:end],
                    page_number=page.number,
                    start_char=start,
                    end_char=end,
                    heading_path=_heading_path(page.headings, start),
                )
            )
    return drafts


def chunk_id(document_id: UUID, draft: ChunkDraft) -> UUID:
    """Return the chunk's id: the same document, index and text always give the same id."""
    return uuid5(NAMESPACE_OID, f"{document_id}:{draft.order_index}:{draft.content}")


def embedding_text(heading_path: str, content: str) -> str:
    """Return what is embedded for a chunk: its text, led by the headings that it stands under."""
    if not heading_path or heading_path.rpartition(HEADING_SEPARATOR)[2] in content:
        return content
    return f"{heading_path}\n{content}"


def _spans(pieces: Iterable[str], text: str, limit: int) -> Iterator[tuple[int, int]]:
    """Yield the span of each piece, in order; a piece over the limit becomes several spans."""
    search_from = 0
    for piece in pieces:
        start = text.index(piece, search_from)
        search_from = start + 1
        if len(piece) <= limit:
            yield start, start + len(piece)
        else:
            yield from _hard_cut(piece, start, limit)


def _hard_cut(piece: str, offset: int, limit: int) -> Iterator[tuple[int, int]]:
    """Yield spans of at most `limit` characters that end between graphemes where possible."""
    start = end = 0
    for match in _GRAPHEME.finditer(piece):
        while match.end() - start > limit:
            if end == start:  # one grapheme over the limit: nothing but a cut inside it helps
                end = start + limit
            yield offset + start, offset + end
            start = end
        end = match.end()
    if end > start:
        yield offset + start, offset + end


def _heading_path(headings: Sequence[Heading], position: int) -> str:
    """Return the titles of the headings that `position` stands under, outermost first."""
    path: list[Heading] = []
    for heading in headings[: bisect.bisect_right(headings, position, key=lambda h: h.offset)]:
        while path and path[-1].level >= heading.level:
            path.pop()
        path.append(heading)
    return HEADING_SEPARATOR.join(h.title for h in path)[:HEADING_PATH_MAX_CHARS]
