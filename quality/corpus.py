"""A question set as the product sees it: documents read and cut, questions with their halves."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from uuid import NAMESPACE_OID, uuid5

import numpy as np
from django.conf import settings

from apps.core.passages import Passage
from apps.documents.indexing.chunking import chunk_id, embedding_text, split_pages
from apps.documents.reading.extract import extract
from apps.documents.search import HEADINGS_ONLY
from apps.llm.factory import embedding_model

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from uuid import UUID

ARTICLE = re.compile(r"(?<=\d)(?<![A-Z]\d)[-_]\d+$")  # the paragraph's number in its article


@dataclass(frozen=True, slots=True)
class Question:
    """A row of `questions.jsonl`; `half` tells the article's half: "a" or "b"."""

    row: dict[str, Any]
    half: str


class Corpus:
    """The chunks of a set with unit vectors, searched exactly."""

    def __init__(self, folder: Path, work: Path) -> None:
        self.doc_ids: dict[UUID, str] = {}
        self._passages: list[Passage] = []
        texts: list[str] = []
        for doc_id, path in _files(folder, work):
            document = uuid5(NAMESPACE_OID, doc_id)
            self.doc_ids[document] = doc_id
            for passage in _chunks(document, path):
                self._passages.append(passage)
                texts.append(embedding_text(passage.heading_path, passage.content))
        self._vectors = np.array(embedding_model().embed_documents(texts), dtype=np.float32)

    async def search(self, query: str, *, limit: int, remembered: int = 0) -> list[Passage]:
        """Return the nearest passages, as `documents.search` does; nothing is remembered."""
        del remembered
        scores = self._vectors @ np.array(embedding_model().embed_query(query), dtype=np.float32)
        found: dict[str, Passage] = {}
        for place in np.argsort(-scores, kind="stable"):
            passage = self._passages[place]
            if len(found) == limit:
                break
            if not HEADINGS_ONLY.fullmatch(passage.content):
                found.setdefault(passage.content, replace(passage, score=float(scores[place])))
        return list(found.values())


def questions(folder: Path) -> list[Question]:
    """Return the questions of a set; those about one article are in the same half."""
    rows = map(json.loads, (folder / "questions.jsonl").read_text("utf-8").splitlines())
    return [Question(row, half_of(row)) for row in rows]


def half_of(row: dict[str, Any]) -> str:
    """Return "a" or "b" by the article asked about, or by the question where there is none."""
    gold: Sequence[str] = row["gold_doc_ids"] or [row["id"]]
    article = ARTICLE.sub("", sorted(gold)[0])
    return "ab"[hashlib.sha256(article.encode()).digest()[0] % 2]


def _files(folder: Path, work: Path) -> Iterator[tuple[str, Path]]:
    """Yield id and file of each document, written as it would be uploaded."""
    for line in (folder / "corpus.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        if "file" in row:
            yield row["id"], folder / row["file"]
            continue
        titled = row["text"].startswith("# ") or not row.get("title")
        text = row["text"] if titled else f"# {row['title']}\n\n{row['text']}"
        path = work / (re.sub(r"[^\w.-]+", "_", row["id"])[:60] + ".md")
        path.write_text(text, encoding="utf-8")
        yield row["id"], path


def _chunks(document: UUID, path: Path) -> Iterator[Passage]:
    env = settings.ENV
    pages = extract(path, path.suffix.removeprefix(".")).pages
    drafts = split_pages(pages, chunk_size=env.chunk_size, chunk_overlap=env.chunk_overlap)
    for draft in drafts:
        yield Passage(
            chunk_id=chunk_id(document, draft),
            document_id=document,
            filename=path.name,
            order_index=draft.order_index,
            page_number=draft.page_number,
            start_char=draft.start_char,
            end_char=draft.end_char,
            heading_path=draft.heading_path,
            content=draft.content,
            score=0.0,
        )
