"""Passages and evidence for tests of the extractive model, scored by the real embedding model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import NAMESPACE_URL, uuid5

import numpy as np

from apps.core.passages import Evidence, Passage, Source
from apps.llm.factory import embedding_model

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apps.llm.ports import QuotedAnswer


def passage(content: str, *, filename: str = "a.txt", heading: str = "") -> Passage:
    return Passage(
        chunk_id=uuid5(NAMESPACE_URL, f"{filename}/{content}"),
        document_id=uuid5(NAMESPACE_URL, filename),
        filename=filename,
        order_index=0,
        page_number=None,
        start_char=0,
        end_char=len(content),
        heading_path=heading,
        content=content,
        score=0.85,
    )


def found(query: str, passages: Sequence[Passage]) -> list[Passage]:
    """Return the passages with their true scores for `query`, best first."""
    model = embedding_model()
    vector = np.array(model.embed_query(query))
    rows = np.array(model.embed_documents([f"{p.heading_path}\n{p.content}" for p in passages]))
    scored = [
        replace(p, score=float(score)) for p, score in zip(passages, rows @ vector, strict=True)
    ]
    return sorted(scored, key=lambda p: -p.score)


def evidence(query: str, passages: Sequence[Passage]) -> Evidence:
    """Return what one search for `query` gives."""
    sources = (
        Source(f"S{number}", p, query) for number, p in enumerate(found(query, passages), start=1)
    )
    return Evidence(query, (query,), tuple(sources))


def quoted(answer: QuotedAnswer | None) -> str | None:
    """Return the text of an answer to all parts of a question, None for a refusal."""
    assert answer is None or not answer.unanswered
    return answer and answer.text
