"""The collection of chunk vectors in Milvus: the only module that imports pymilvus.

Serves a local folder (inside the owner process, see `local_folder`) and a cluster with the same
code. Filters are built from validated ids and scopes only, since Milvus Lite has no parameters.
"""

from __future__ import annotations

import logging
import uuid
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from uuid import UUID

from apps.documents.errors import VectorDimensionError, VectorStoreUnavailableError
from apps.documents.vectors.index_choice import METRIC, VECTOR_FIELD, index_at
from apps.documents.vectors.records import StoreHealth, VectorHit, checked_matrix, checked_scope

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pydantic import SecretStr
    from pymilvus import MilvusClient

    from apps.documents.vectors.records import Vector, VectorRecord

logger = logging.getLogger(__name__)

COLLECTION = "kbqa_chunks"  # 003 §7
PAGE_SIZE = 10_000  # rows; Milvus answers at most 16,384 a query
ID_MAX_LENGTH = 36
SCOPE_MAX_LENGTH = 64


class MilvusStore:
    """A VectorStore on a Milvus client; the collection is made at the first `ensure`.

    `token` (`user:password` or a key) and `database` are a cluster's; empty: none, its default.
    """

    def __init__(
        self, uri: str, *, timeout_s: float, token: SecretStr | None = None, database: str = ""
    ) -> None:
        from pymilvus import MilvusClient  # 160 MB and 2 s

        # Its own handler would warn at each iteration of what Milvus Lite leaves out.
        logging.getLogger("pymilvus").setLevel(logging.ERROR)
        self._timeout_s, self._index = timeout_s, index_at(uri)
        self._instance = uuid.uuid4().hex
        with _converted_errors():
            self._client: MilvusClient = MilvusClient(
                uri=uri,
                token=token.get_secret_value() if token else "",
                db_name=database,
                timeout=timeout_s,
                dedicated=True,
            )
            self._dimension = self._load()

    def _load(self) -> int | None:
        """Bring the collection into memory; return its dimension, None when it is absent."""
        if not self._client.has_collection(COLLECTION):
            return None
        self._client.load_collection(COLLECTION)
        return _dimension_of(self._client.describe_collection(COLLECTION))

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def health(self) -> StoreHealth:
        """Return the state of the store."""
        with _converted_errors():
            self._client.has_collection(COLLECTION, timeout=self._timeout_s)
        return StoreHealth("ready", self._instance, self._dimension)

    def ensure(self, dimension: int) -> None:
        """Make the collection if it is absent; see VectorStore."""
        if self._dimension is None:
            with _converted_errors():
                self._dimension = self._load() or self._create(dimension)
        if self._dimension != dimension:
            raise VectorDimensionError(actual=dimension, expected=self._dimension)

    def _create(self, dimension: int) -> int:
        from pymilvus import DataType, MilvusClient  # 160 MB and 2 s

        schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field("chunk_id", DataType.VARCHAR, is_primary=True, max_length=ID_MAX_LENGTH)
        schema.add_field("document_id", DataType.VARCHAR, max_length=ID_MAX_LENGTH)
        schema.add_field("scope", DataType.VARCHAR, max_length=SCOPE_MAX_LENGTH)
        schema.add_field("order_index", DataType.INT64)
        schema.add_field(VECTOR_FIELD, DataType.FLOAT_VECTOR, dim=dimension)
        index = self._client.prepare_index_params()
        index.add_index(
            VECTOR_FIELD,
            index_type=self._index.type,
            metric_type=METRIC,
            # pymilvus takes one level of names away; Milvus Lite reads what lies under `params`.
            params={"params": dict(self._index.build)} if self._index.build else {},
        )
        self._client.create_collection(
            COLLECTION, schema=schema, index_params=index, consistency_level="Strong"
        )
        self._client.load_collection(COLLECTION)
        return dimension

    def upsert(self, records: Sequence[VectorRecord]) -> None:
        """Store the vectors, replacing those with the same chunk id."""
        if not records:
            return
        matrix = checked_matrix([record.vector for record in records], self._dimension)
        rows = [
            {
                "chunk_id": str(record.chunk_id),
                "document_id": str(record.document_id),
                "scope": checked_scope(record.scope),
                "order_index": record.order_index,
                VECTOR_FIELD: vector,
            }
            for record, vector in zip(records, matrix, strict=True)
        ]
        with _converted_errors():
            self._client.upsert(COLLECTION, rows)

    def delete_document(self, document_id: UUID) -> None:
        """Remove all vectors of a document."""
        if self._dimension is None:
            return
        with _converted_errors():
            self._client.delete(COLLECTION, filter=_of_document(document_id))

    def search(
        self,
        vector: Vector,
        *,
        scopes: Sequence[str],
        limit: int,
        chunk_ids: Sequence[UUID] | None = None,
    ) -> list[VectorHit]:
        """Return the `limit` nearest chunks within `scopes`, best first; see VectorStore."""
        if self._dimension is None or not scopes or (chunk_ids is not None and not chunk_ids):
            return []
        query = checked_matrix([vector], self._dimension)
        with _converted_errors():
            (hits,) = self._client.search(
                COLLECTION,
                data=[query[0]],
                anns_field=VECTOR_FIELD,
                filter=_within(scopes, chunk_ids),
                limit=limit,
                output_fields=["chunk_id"],  # none at all would return whole vectors
                search_params={"metric_type": METRIC, "params": self._index.search_for(limit)},
            )
        return [VectorHit(UUID(hit["chunk_id"]), float(hit["distance"])) for hit in hits]

    def count(self, document_id: UUID | None = None) -> int:
        """Return how many vectors there are, of one document or in all."""
        if self._dimension is None:
            return 0
        condition = "" if document_id is None else _of_document(document_id)
        with _converted_errors():
            (row,) = self._client.query(COLLECTION, filter=condition, output_fields=["count(*)"])
        return int(row["count(*)"])

    def counts_by_document(self) -> dict[UUID, int]:
        """Return how many vectors each document has."""
        if self._dimension is None:
            return {}
        counts: Counter[str] = Counter()
        with _converted_errors():
            pages = self._client.query_iterator(
                COLLECTION, batch_size=PAGE_SIZE, output_fields=["document_id"]
            )
            while page := pages.next():
                counts.update(row["document_id"] for row in page)
            pages.close()
        return {UUID(document_id): number for document_id, number in counts.items()}

    def flush(self) -> None:
        """Seal what was written."""
        if self._dimension is None:
            return
        with _converted_errors():
            self._client.flush(COLLECTION)

    def drop(self) -> None:
        """Remove the collection with everything in it."""
        with _converted_errors():
            self._client.drop_collection(COLLECTION)
        self._dimension = None


def _within(scopes: Sequence[str], chunk_ids: Sequence[UUID] | None) -> str:
    condition = f"scope in [{_quoted(map(checked_scope, scopes))}]"
    if chunk_ids is None:
        return condition
    wanted = _quoted(str(UUID(str(chunk_id))) for chunk_id in chunk_ids)
    return f"{condition} and chunk_id in [{wanted}]"


def _quoted(values: Iterable[str]) -> str:
    return ", ".join(f'"{value}"' for value in values)


def _of_document(document_id: UUID) -> str:
    return f'document_id == "{UUID(str(document_id))}"'


def _dimension_of(description: dict[str, Any]) -> int:
    (field,) = (f for f in description["fields"] if f["name"] == VECTOR_FIELD)
    return int(field["params"]["dim"])


@contextmanager
def _converted_errors() -> Iterator[None]:
    """Turn the vendor's errors into ours; details go to the log only."""
    from grpc import RpcError  # noqa: PLC0415 - comes with pymilvus
    from pymilvus.exceptions import MilvusException  # 160 MB and 2 s

    try:
        yield
    except (MilvusException, RpcError) as error:  # RpcError: a refused token, for example
        logger.warning("vector store: %s", error)
        raise VectorStoreUnavailableError from error
