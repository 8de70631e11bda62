"""The words that documents, agents and the extractive model share: a passage and who finds it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from uuid import UUID


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk of an indexed document, as a search found it.

    `score` is the cosine similarity of the query and the chunk, from -1 to 1. `start_char` and
    `end_char` are the chunk's span in the extracted text of its page (of the document where there
    are no pages). `page_number` counts from 1 and is None for formats without pages.
    """

    chunk_id: UUID
    document_id: UUID
    filename: str
    order_index: int
    page_number: int | None
    start_char: int
    end_char: int
    heading_path: str
    content: str
    score: float


@dataclass(frozen=True, slots=True)
class Source:
    """A passage that an answer may cite: `label` is S1 to S8, `query` the search that found it."""

    label: str
    passage: Passage
    query: str


@dataclass(frozen=True, slots=True)
class Search:
    """One search: its query and what it found, best first."""

    query: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the research found.

    `question` is the standalone question, `sources` are in the order of their labels and hold at
    most eight passages, each chunk once with its best score. `queries` are the searches, in order;
    `summary` is what the researcher has to say.
    """

    question: str
    queries: tuple[str, ...]
    sources: tuple[Source, ...]
    summary: str = ""


class SearchPort(Protocol):
    """Finds passages for a query among the documents that the asker may see."""

    async def __call__(self, query: str, *, limit: int, remembered: int = 0) -> list[Passage]:
        """Return at most `limit` passages, best first.

        Behind them come at most `remembered` further ones, of those that earlier answers of the
        conversation cite.

        Raises:
            AppError: when the vector store, the database or the embedding model is unavailable.
        """
        ...
