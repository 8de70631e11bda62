"""The vector store as its clients see it, on an owner process of its own."""

from __future__ import annotations

import math
import uuid

import pytest
from django.utils.crypto import salted_hmac

from apps.documents.errors import (
    InvalidVectorError,
    VectorDimensionError,
)
from apps.documents.tests.processes import ManagedProcess, wait_until_ready
from apps.documents.vectors.client import VectorClient
from apps.documents.vectors.records import VectorHit, VectorRecord, user_scope
from tests.server_process import product_environment

KEY_VARIABLE = "KBQA_SECRET_KEY"
SECRET = "for these tests only"


@pytest.fixture(scope="module")
def store_client(tmp_path_factory):
    """A client of an owner with an empty folder."""
    data_dir = tmp_path_factory.mktemp("vectors")
    environment = product_environment(data_dir, **{KEY_VARIABLE: SECRET})
    with ManagedProcess("vector_server", environment=environment) as process:
        client = VectorClient(data_dir / "vectors.sock", key=key_of(data_dir))
        wait_until_ready(client)
        yield client
        client.close()
        process.kill()


@pytest.fixture
def store(store_client):
    """The client, with an empty collection of four dimensions."""
    store_client.drop()
    store_client.ensure(4)
    return store_client


def key_of(data_dir):
    return salted_hmac("kbqa.vectors", str(data_dir), secret=SECRET, algorithm="sha256").digest()


def record(vector, *, document_id=None, owner_id=None, order_index=0):
    return VectorRecord(
        chunk_id=uuid.uuid4(),
        document_id=document_id or uuid.uuid4(),
        scope=user_scope(owner_id or uuid.uuid4()),
        order_index=order_index,
        vector=vector,
    )


def test_search_scores_are_cosines_from_one_to_minus_one(store):
    owner_id = uuid.uuid4()
    vectors = ([3.0, 4.0, 0.0, 0.0], [4.0, 3.0, 0.0, 0.0], [-6.0, -8.0, 0.0, 0.0])
    records = [record(vector, owner_id=owner_id) for vector in vectors]
    store.upsert(records)

    hits = store.search([0.3, 0.4, 0.0, 0.0], scopes=[user_scope(owner_id)], limit=5)

    assert [hit.chunk_id for hit in hits] == [item.chunk_id for item in records]
    assert [hit.score for hit in hits] == pytest.approx([1.0, 0.96, -1.0], abs=1e-5)


@pytest.mark.parametrize("sealed", [False, True])
def test_search_stays_within_the_scopes(store, sealed):
    mine, others = uuid.uuid4(), uuid.uuid4()
    own = record([1.0, 0.0, 0.0, 0.0], owner_id=mine)
    store.upsert([own, record([1.0, 0.0, 0.0, 0.0], owner_id=others)])
    if sealed:
        store.flush()

    assert store.search([1.0, 0.0, 0.0, 0.0], scopes=[user_scope(mine)], limit=5) == [
        VectorHit(own.chunk_id, pytest.approx(1.0))
    ]
    assert store.search([1.0, 0.0, 0.0, 0.0], scopes=[], limit=5) == []


@pytest.mark.parametrize(
    "scope", ['user:x" or scope != "', "user:*", "", "USER:" + str(uuid.UUID(int=0)), "session:1"]
)
def test_search_refuses_malformed_scopes(store, scope):
    with pytest.raises(ValueError, match="malformed scope"):
        store.search([1.0, 0.0, 0.0, 0.0], scopes=[scope], limit=5)


def test_upsert_replaces_the_vector_of_the_same_chunk(store):
    owner_id = uuid.uuid4()
    first = record([1.0, 0.0, 0.0, 0.0], owner_id=owner_id)
    store.upsert([first])
    store.flush()
    store.upsert(
        [VectorRecord(first.chunk_id, first.document_id, first.scope, 0, [0.0, 1.0, 0.0, 0.0])]
    )
    store.flush()

    hits = store.search([0.0, 1.0, 0.0, 0.0], scopes=[user_scope(owner_id)], limit=5)

    assert hits == [VectorHit(first.chunk_id, pytest.approx(1.0))]
    assert store.count() == 1


@pytest.mark.parametrize(
    "vector",
    [
        [math.nan, 0.0, 0.0, 1.0],
        [math.inf, 0.0, 0.0, 1.0],
        [0.0, 0.0, 0.0, 0.0],
        [1e300, 0.0, 0.0, 1.0],
        [1e-300, 0.0, 0.0, 0.0],
    ],
)
def test_upsert_refuses_vectors_that_would_poison_searches(store, vector):
    with pytest.raises(InvalidVectorError):
        store.upsert([record([1.0, 0.0, 0.0, 0.0]), record(vector)])

    assert store.count() == 0


def test_upsert_refuses_another_dimension(store):
    with pytest.raises(VectorDimensionError) as caught:
        store.upsert([record([1.0, 0.0])])

    assert caught.value.places == {"actual": 2, "expected": 4}
    assert store.count() == 0


def test_ensure_refuses_another_dimension(store):
    with pytest.raises(VectorDimensionError):
        store.ensure(8)

    assert store.health().dimension == 4


def test_counts_by_document_are_complete_beyond_one_page(store):
    first, second = uuid.uuid4(), uuid.uuid4()
    store.upsert(
        [record([1.0, i, 0.0, 0.0], document_id=first, order_index=i) for i in range(10_050)]
    )
    store.upsert([record([1.0, 0.0, 0.0, 0.0], document_id=second)])
    store.flush()

    assert store.counts_by_document() == {first: 10_050, second: 1}
    assert (store.count(), store.count(first), store.count(second)) == (10_051, 10_050, 1)


def test_delete_document_removes_its_vectors_only(store):
    gone, kept = uuid.uuid4(), uuid.uuid4()
    store.upsert([record([1.0, 0.0, 0.0, 0.0], document_id=item) for item in (gone, gone, kept)])
    store.flush()

    store.delete_document(gone)
    store.delete_document(gone)

    assert store.counts_by_document() == {kept: 1}


def test_an_empty_store_answers_every_question(store):
    store.drop()

    assert store.health().dimension is None
    assert store.search([1.0], scopes=[user_scope(uuid.uuid4())], limit=5) == []
    assert (store.count(), store.counts_by_document()) == (0, {})
    store.delete_document(uuid.uuid4())
    store.flush()


def test_search_may_be_limited_to_chunks(store):
    owner_id = uuid.uuid4()
    near = record([1.0, 0.0, 0.0, 0.0], owner_id=owner_id)
    far = record([0.0, 1.0, 0.0, 0.0], owner_id=owner_id)
    foreign = record([1.0, 0.0, 0.0, 0.0])
    store.upsert([near, far, foreign])

    def found(*chunk_ids):
        scopes = [user_scope(owner_id)]
        hits = store.search([1.0, 0.0, 0.0, 0.0], scopes=scopes, limit=5, chunk_ids=chunk_ids)
        return [hit.chunk_id for hit in hits]

    assert found(far.chunk_id, foreign.chunk_id) == [far.chunk_id]
    assert found() == []
