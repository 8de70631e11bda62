"""Which search index the vectors get: an exact one in the local folder, AUTOINDEX in a cluster.

Milvus Lite makes a graph (FAISS HNSW) of AUTOINDEX. Equal vectors fill each other's lists of
neighbours in it, so that some can no longer be reached: of 40 copies of one document in 40 scopes,
searches within a scope missed two thirds of the five nearest chunks, whatever `ef` was. The local
index is therefore one inverted list that is read from end to end (docs/adr/0012).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

VECTOR_FIELD = "vector"
METRIC = "COSINE"  # 003 §7
LOCAL_SCHEME = "unix:"  # the owner's own connection to the folder, see `local_folder`


@dataclass(frozen=True, slots=True)
class IndexChoice:
    """An index by Milvus' names, with the parameters of its making and of a search in it."""

    type: str
    build: Mapping[str, int]
    search: Mapping[str, int]

    def search_for(self, limit: int) -> dict[str, int]:
        """Return the parameters of a search for `limit` vectors: at least `limit` each."""
        return {name: max(value, limit) for name, value in self.search.items()}


CLUSTER_INDEX = IndexChoice("AUTOINDEX", build={}, search={"ef": 256})  # 003 §7
LOCAL_INDEX = IndexChoice("IVF_FLAT", build={"nlist": 1}, search={})


def index_at(uri: str) -> IndexChoice:
    """Return the index that a collection at `uri` has."""
    return LOCAL_INDEX if uri.startswith(LOCAL_SCHEME) else CLUSTER_INDEX
