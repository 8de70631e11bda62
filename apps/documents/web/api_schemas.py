"""The JSON shapes of documents, chunks and search results; the only place that decides them."""

from __future__ import annotations

import math
from datetime import datetime
from typing import TYPE_CHECKING, Self
from uuid import UUID

from ninja import Schema

from apps.documents.indexing.progress import remaining_s
from apps.documents.warnings import warning_text

if TYPE_CHECKING:
    from apps.core.passages import Passage
    from apps.documents.models import Chunk, Document


class ProgressOut(Schema):
    """How far indexing is; `seconds_left` is an estimate, null when there is none."""

    stage: str
    done: int
    total: int
    seconds_left: int | None

    @classmethod
    def of(cls, document: Document) -> Self:
        """Return the progress of a document, which its row holds in several fields."""
        left_s = remaining_s(document)
        return cls(
            stage=document.progress_stage,
            done=document.progress_done,
            total=document.progress_total,
            seconds_left=None if left_s is None else math.ceil(left_s),
        )


class WarningOut(Schema):
    """What a person should know about an indexed document."""

    code: str
    message: str

    @classmethod
    def of(cls, warning: dict[str, object]) -> Self:
        """Return the JSON form of a stored warning, in the active language."""
        return cls(code=str(warning["code"]), message=warning_text(warning))


class DocumentOut(Schema):
    """A document."""

    id: UUID
    filename: str
    file_type: str
    mime_type: str
    file_size: int
    sha256: str
    status: str
    page_count: int | None
    encoding: str
    warnings: list[WarningOut]
    chunk_count: int
    progress: ProgressOut
    error_code: str | None
    error_message: str | None
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, document: Document) -> Self:
        """Return the JSON form of a document."""
        return cls(
            id=document.pk,
            filename=document.filename,
            file_type=document.file_type,
            mime_type=document.mime_type,
            file_size=document.file_size,
            sha256=document.sha256,
            status=document.status,
            page_count=document.page_count,
            encoding=document.encoding,
            warnings=[WarningOut.of(warning) for warning in document.warnings],
            chunk_count=document.chunk_count,
            progress=ProgressOut.of(document),
            error_code=document.error_code,
            error_message=document.error_message,
            created_at=document.created_at,
            updated_at=document.updated_at,
        )


class DocumentPage(Schema):
    """Some of the documents; `count` is the number of all that match."""

    items: list[DocumentOut]
    count: int


class RetriedOut(Schema):
    """How many failed documents wait to be indexed again."""

    queued: int


class ChunkOut(Schema):
    """A chunk; `start_char` and `end_char` are its span in the text of its page."""

    id: UUID
    document_id: UUID
    order_index: int
    content: str
    page_number: int | None
    start_char: int
    end_char: int
    heading_path: str
    char_count: int

    @classmethod
    def of(cls, chunk: Chunk) -> Self:
        """Return the JSON form of a chunk."""
        return cls.model_validate(chunk)


class ChunkPage(Schema):
    """Some of a document's chunks; `count` is the number of all."""

    items: list[ChunkOut]
    count: int


class HitOut(Schema):
    """A passage that a search found; `score` is the cosine similarity."""

    document_id: UUID
    filename: str
    chunk_id: UUID
    order_index: int
    page_number: int | None
    start_char: int
    end_char: int
    content: str
    score: float

    @classmethod
    def of(cls, passage: Passage) -> Self:
        """Return the JSON form of a passage."""
        return cls.model_validate(passage)


class HitList(Schema):
    """The passages, best first."""

    items: list[HitOut]
