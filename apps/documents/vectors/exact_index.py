"""Gives the collections of the local folder their exact index; imported by the owner only."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import faiss

from apps.documents.vectors.index_choice import LOCAL_INDEX, METRIC, VECTOR_FIELD

if TYPE_CHECKING:
    from milvus_lite.engine.collection import Collection

logger = logging.getLogger(__name__)


def give_exact_index(collection: Collection) -> None:
    """Replace the index of a collection that is not loaded, unless it is the exact one.

    Folders of earlier versions have a graph, which is made anew from the stored vectors. Nothing
    is lost by an end in between: without an index Milvus Lite compares each vector, only slower.
    """
    present = collection.get_index_info(VECTOR_FIELD)
    if present is not None:
        if (present["index_type"], present["build_params"]) == (
            LOCAL_INDEX.type,
            LOCAL_INDEX.build,
        ):
            return
        logger.warning("vector folder: %s is given an exact index", collection.name)
        collection.drop_index(VECTOR_FIELD)
    definition = {
        "index_type": LOCAL_INDEX.type,
        "metric_type": METRIC,
        "params": dict(LOCAL_INDEX.build),
    }
    collection.create_index(VECTOR_FIELD, definition)


def train_without_warnings() -> None:
    """Keep FAISS from printing a warning for each small document.

    It asks for 39 vectors to find the centre of a list. The place of the only centre does not
    matter, and Milvus Lite passes no such setting on.
    """
    train = faiss.IndexIVF.train

    def train_with_any_number(index: faiss.IndexIVF, vectors: object) -> None:
        index.cp.min_points_per_centroid = 1
        train(index, vectors)

    setattr(faiss.IndexIVFFlat, "train", train_with_any_number)  # noqa: B010 - mypy refuses more
