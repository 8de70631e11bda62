"""How the vectors of the collection were made, compared with the configuration.

Vectors of two models, or of two dimensions, must never be compared with each other. The comparison
is cheap: it loads no model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from apps.documents.errors import IndexOutdatedError
from apps.documents.models import Document, VectorIndex
from apps.llm.factory import embedding_model_name

if TYPE_CHECKING:
    from django.utils.functional import Promise

    from apps.documents.vectors.store import VectorStore

COLLECTION = "kbqa_chunks"
# Of what is read of a file and embedded of a chunk. Raised when old chunks or vectors would come
# out otherwise: 2 reads Markdown as its reader sees it and compares Chinese in one script.
TEXT_VERSION = 2


@dataclass(frozen=True, slots=True)
class IndexDefinition:
    """What decides the vectors. `dimension` is None where the model's name implies it."""

    embedding_model: str
    dimension: int | None
    chunk_size: int
    chunk_overlap: int
    text_version: int


@dataclass(frozen=True, slots=True)
class Change:
    """A setting that differs."""

    name: Promise | str
    old: object
    new: object


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs, told in the language that is active when it is told: not when it is found."""

    changes: tuple[Change, ...]

    def __str__(self) -> str:
        return ", ".join(f"{change.name}: {change.old} → {change.new}" for change in self.changes)


def configured_definition() -> IndexDefinition:
    """Return what the configuration asks for."""
    env = settings.ENV
    dimension = env.embedding_dim if env.embedding_endpoint else None
    return IndexDefinition(
        embedding_model_name(), dimension, env.chunk_size, env.chunk_overlap, TEXT_VERSION
    )


def stored_definition() -> IndexDefinition | None:
    """Return how the collection was made, None before the first document."""
    row = VectorIndex.objects.filter(collection=COLLECTION).first()
    if row is None:
        return None
    return IndexDefinition(
        row.embedding_model, row.dimension, row.chunk_size, row.chunk_overlap, row.text_version
    )


def outdated() -> IndexOutdatedError | None:
    """Return why new documents cannot join the index, None when they can."""
    stored = stored_definition()
    return _error(_model_changes(stored) + _chunk_changes(stored))


def unsearchable() -> IndexOutdatedError | None:
    """Return why queries cannot be compared with the index, None when they can.

    Another model or dimension does that; other chunks or texts leave the index searchable.
    """
    return _error(_model_changes(stored_definition()))


def check_searchable() -> None:
    """Do nothing when queries can be compared with the index.

    Raises:
        IndexOutdatedError: it was made with another model or dimension.
    """
    error = unsearchable()
    if error is not None:
        raise error


def adopt_definition(store: VectorStore, *, dimension: int) -> None:
    """Make the collection for the configuration if nothing is indexed yet.

    Raises:
        IndexOutdatedError: documents are indexed whose vectors were made otherwise.
        VectorDimensionError: the collection has another dimension than the model.
    """
    error = outdated()
    if error is not None:
        raise error
    stored = stored_definition()
    if _model_changes(stored) or _chunk_changes(stored):
        store.drop()
    store.ensure(dimension)
    remember_definition(dimension=dimension)


def remember_definition(*, dimension: int) -> None:
    """Record that the collection is made as configured."""
    configured = configured_definition()
    VectorIndex.objects.update_or_create(
        collection=COLLECTION,
        defaults={
            "embedding_model": configured.embedding_model,
            "dimension": dimension,
            "chunk_size": configured.chunk_size,
            "chunk_overlap": configured.chunk_overlap,
            "text_version": configured.text_version,
        },
    )


def _is_used() -> bool:
    """Whether any document's vectors count; those of unpublished documents are made anew."""
    return Document.objects.indexed().exists()


def _model_changes(stored: IndexDefinition | None) -> tuple[Change, ...]:
    if stored is None:
        return ()
    configured = configured_definition()
    return _differing(
        Change(_("向量模型"), stored.embedding_model, configured.embedding_model),
        Change(_("维度"), stored.dimension, configured.dimension or stored.dimension),
    )


def _chunk_changes(stored: IndexDefinition | None) -> tuple[Change, ...]:
    if stored is None:
        return ()
    configured = configured_definition()
    return _differing(
        Change(_("分块大小"), stored.chunk_size, configured.chunk_size),
        Change(_("分块重叠"), stored.chunk_overlap, configured.chunk_overlap),
        Change(_("文本版本"), stored.text_version, configured.text_version),
    )


def _differing(*changes: Change) -> tuple[Change, ...]:
    return tuple(change for change in changes if change.old != change.new)


def _error(changes: tuple[Change, ...]) -> IndexOutdatedError | None:
    """Return the error for the changes, None without any or while no document is published."""
    if not changes or not _is_used():
        return None
    return IndexOutdatedError(difference=Difference(changes))
