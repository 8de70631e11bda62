"""Turns one stored file into chunks and vectors: extract, split, embed, store, publish.

Each slice of a long document is embedded and stored before the next one is touched. The run stops
when the job is no longer its own, at the latest between two batches. No transaction spans a call
to a model or to the vector store.
"""

from __future__ import annotations

import logging
import time
from itertools import batched
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from apps.documents.errors import EmptyDocumentError, VectorStoreUnavailableError
from apps.documents.indexing import jobs
from apps.documents.indexing.chunking import chunk_id, embedding_text, split_pages
from apps.documents.indexing.duplicates import twin_warnings
from apps.documents.indexing.embedding_costs import EmbeddingCosts
from apps.documents.indexing.index_definition import adopt_definition
from apps.documents.indexing.jobs import JobLostError
from apps.documents.kinds import registry
from apps.documents.models import Chunk, Document, DocumentStatus, ProgressStage
from apps.documents.reading.extract import extract
from apps.documents.vectors.access import ready_store
from apps.documents.vectors.records import VectorRecord, user_scope
from apps.llm.calls import CallScope, call_scope
from apps.llm.factory import embedding_model

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Sequence

    from apps.core.errors import AppError
    from apps.documents.indexing.chunking import ChunkDraft
    from apps.documents.indexing.jobs import Claim
    from apps.documents.reading.pages import ExtractedText
    from apps.documents.vectors.store import VectorStore

logger = logging.getLogger(__name__)

SLICE_SIZE = 256  # chunks; bounds the memory for vectors
PROGRESS_INTERVAL_S = 0.5
STORE_WAIT_S = 60.0  # for an owner of the vectors that is being restarted
STORE_ATTEMPTS = 3
UPDATED_FIELDS = ["page_number", "start_char", "end_char", "heading_path"]


class IndexRun:
    """One attempt at a job. `lost` is set from outside when the job was taken away."""

    def __init__(self, claim: Claim, lost: threading.Event) -> None:
        self._claim, self._lost = claim, lost
        self._document_id = claim.document_id
        self._costs = EmbeddingCosts()
        self._shown: tuple[str, float] = ("", 0.0)
        self._checked_at = time.monotonic()

    def run(self) -> None:
        """Index the document and publish it.

        Raises:
            JobLostError: the job is no longer this run's own.
            AppError: the document cannot be indexed.
        """
        document = self._document()
        drafts = self._drafts(document)
        model = embedding_model()
        self._on_store(lambda store: adopt_definition(store, dimension=model.dimension))
        instance = self._on_store(lambda store: store.health().instance)
        self._remove_old(drafts)
        self._show(ProgressStage.EMBEDDING, 0, len(drafts))
        for part in batched(drafts, SLICE_SIZE):
            vectors = self._embed(part, total=len(drafts))
            self._store(document, part, vectors)
        self._show(ProgressStage.STORING, len(drafts), len(drafts))
        self._on_store(lambda store: self._seal(store, instance, len(drafts)))
        jobs.succeed(self._claim, chunk_count=len(drafts))

    def fail(self, error: AppError, *, detail: str) -> None:
        """Record the reason, and remove what a half-indexed document left.

        Chunks that were published once stay: old answers cite them.

        Raises:
            JobLostError: the job is no longer this run's own.
        """
        jobs.require_held(self._claim)
        self._remove_vectors()
        if not self._document().chunk_count:
            Chunk.objects.filter(document=self._document_id).delete()
        jobs.fail(self._claim, error, detail=detail)

    def take_back(self) -> None:
        """Remove the vectors of a document that was deleted meanwhile."""
        kept = Document.objects.filter(pk=self._document_id).exclude(
            status=DocumentStatus.DELETING
        )
        if not kept.exists():
            self._remove_vectors()

    def should_stop(self) -> bool:
        """Whether the job was taken away; asks the database twice a second at most."""
        now = time.monotonic()
        if not self._lost.is_set() and now - self._checked_at >= PROGRESS_INTERVAL_S:
            self._checked_at = now
            if not jobs.is_held(self._claim):
                self._lost.set()
        return self._lost.is_set()

    def _document(self) -> Document:
        try:
            return Document.objects.get(pk=self._document_id)
        except Document.DoesNotExist as error:
            raise JobLostError from error

    def _drafts(self, document: Document) -> list[ChunkDraft]:
        text = self._extract(document)
        jobs.record(
            self._claim,
            page_count=text.page_count,
            encoding=text.encoding,
            warnings=[*twin_warnings(document), *text.warnings],
        )
        env = settings.ENV
        drafts = split_pages(
            text.pages, chunk_size=env.chunk_size, chunk_overlap=env.chunk_overlap
        )
        if not drafts:
            raise EmptyDocumentError
        return drafts

    def _extract(self, document: Document) -> ExtractedText:
        def on_progress(done: int, total: int) -> None:
            self._show(ProgressStage.EXTRACTING, done, total)

        text = extract(
            document.stored_path,
            registry.installed()[document.file_type],
            findings=document.findings,
            on_progress=on_progress,
            should_stop=self.should_stop,
        )
        jobs.require_held(self._claim)
        return text

    def _remove_old(self, drafts: Sequence[ChunkDraft]) -> None:
        """Remove what an earlier attempt left, but not the rows of unchanged chunks."""
        if self._claim.attempt == 1:
            return
        self._on_store(lambda store: store.delete_document(self._document_id))
        wanted = {chunk_id(self._document_id, draft) for draft in drafts}
        chunks = Chunk.objects.filter(document=self._document_id)
        vanished = [pk for pk in chunks.values_list("pk", flat=True) if pk not in wanted]
        with transaction.atomic():
            jobs.require_held(self._claim)
            for part in batched(vanished, SLICE_SIZE):
                Chunk.objects.filter(pk__in=part).delete()

    def _embed(self, drafts: Sequence[ChunkDraft], *, total: int) -> list[list[float]]:
        model = embedding_model()
        texts = [embedding_text(draft.heading_path, draft.content) for draft in drafts]
        vectors: list[list[float]] = []
        for batch in batched(texts, model.batch_size):
            vectors += self._embed_charged(list(batch))
            self._show(ProgressStage.EMBEDDING, drafts[0].order_index + len(vectors), total)
            if self.should_stop():
                raise JobLostError
        return vectors

    def _embed_charged(self, texts: list[str]) -> list[list[float]]:
        """Return the vectors; what they cost is written at once, also when they are useless."""
        try:
            with call_scope(CallScope(self._costs, "indexing")):
                return embedding_model().embed_documents(texts)
        finally:
            jobs.add_cost(self._claim, self._costs.take())

    def _store(
        self, document: Document, drafts: Sequence[ChunkDraft], vectors: list[list[float]]
    ) -> None:
        chunks = [_chunk(document, draft) for draft in drafts]
        with transaction.atomic():
            jobs.require_held(self._claim)
            Chunk.objects.bulk_create(
                chunks,
                update_conflicts=True,
                unique_fields=["id"],
                update_fields=UPDATED_FIELDS,
            )
        scope = user_scope(document.owner_id)
        records = [
            VectorRecord(chunk.pk, document.pk, scope, chunk.order_index, vector)
            for chunk, vector in zip(chunks, vectors, strict=True)
        ]
        self._on_store(lambda store: store.upsert(records))
        jobs.require_held(self._claim)

    def _seal(self, store: VectorStore, instance: str, expected: int) -> None:
        """Flush; count the vectors if the store was restarted meanwhile, and may have lost some.

        The count is not made each time, since it looks at every vector of the collection.
        """
        store.flush()
        if store.health().instance != instance and store.count(self._document_id) != expected:
            raise VectorStoreUnavailableError

    def _on_store[T](self, call: Callable[[VectorStore], T]) -> T:
        """Return the call's result; it is repeated when the store was restarted meanwhile."""
        for attempts_left in reversed(range(STORE_ATTEMPTS)):
            try:
                store = ready_store(unavailable_s=STORE_WAIT_S, should_stop=self.should_stop)
                return call(store)
            except VectorStoreUnavailableError:
                if self.should_stop():
                    raise JobLostError from None
                if not attempts_left:
                    raise
        raise VectorStoreUnavailableError

    def _remove_vectors(self) -> None:
        """Remove the document's vectors, now if the store answers; recovery does it otherwise."""
        try:
            store = ready_store(unavailable_s=0)
            store.delete_document(self._document_id)
            store.flush()
        except VectorStoreUnavailableError:
            logger.warning("vectors of %s are left to the recovery", self._document_id)

    def _show(self, stage: ProgressStage, done: int, total: int) -> None:
        """Write the progress, at most twice a second within a stage."""
        shown_stage, shown_at = self._shown
        now = time.monotonic()
        if stage == shown_stage and now - shown_at < PROGRESS_INTERVAL_S:
            return
        self._shown = (stage, now)
        started = {} if stage == shown_stage else {"progress_started_at": timezone.now()}
        jobs.record(
            self._claim,
            progress_stage=stage,
            progress_done=done,
            progress_total=total,
            **started,
        )


def _chunk(document: Document, draft: ChunkDraft) -> Chunk:
    return Chunk(
        id=chunk_id(document.pk, draft),
        document=document,
        order_index=draft.order_index,
        content=draft.content,
        page_number=draft.page_number,
        start_char=draft.start_char,
        end_char=draft.end_char,
        heading_path=draft.heading_path,
        char_count=len(draft.content),
    )
