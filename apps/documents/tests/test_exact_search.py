"""The local folder's search is exact, whatever copies there are and whoever made the folder."""

from __future__ import annotations

import signal
import uuid
from itertools import batched

import numpy as np
import pytest
from milvus_lite.db import MilvusLite

from apps.documents.tests.processes import ManagedProcess, folder_of, wait_until_ready
from apps.documents.tests.test_vector_store import KEY_VARIABLE, SECRET, key_of
from apps.documents.vectors.client import VectorClient
from apps.documents.vectors.index_choice import VECTOR_FIELD
from apps.documents.vectors.milvus import COLLECTION
from apps.documents.vectors.records import VectorRecord, user_scope
from tests.server_process import product_environment

DIMENSION = 64
HANDBOOK = 30  # chunks of the document that is uploaded again and again
COPIES = 40
QUESTIONS = 8
LIMIT = 5
SEALED_ROWS = (0, 700, HANDBOOK * COPIES)


@pytest.fixture(scope="module")
def owner_process(tmp_path_factory):
    """A client of an owner with an empty folder, and its process."""
    data_dir = tmp_path_factory.mktemp("exact")
    with owner_of(data_dir) as process:
        client = ready_client(data_dir)
        yield client, process
        client.close()


@pytest.fixture
def store(owner_process):
    client, _process = owner_process
    client.drop()
    client.ensure(DIMENSION)
    return client


def owner_of(data_dir):
    environment = product_environment(data_dir, **{KEY_VARIABLE: SECRET})
    return ManagedProcess("vector_server", environment=environment)


def ready_client(data_dir):
    client = VectorClient(data_dir / "vectors.sock", key=key_of(data_dir))
    wait_until_ready(client)
    return client


def unit(vectors):
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def handbook():
    generator = np.random.default_rng(3)
    common = 3 * generator.standard_normal((1, DIMENSION))  # as of texts in one language
    return unit(common + generator.standard_normal((HANDBOOK, DIMENSION)))


def questions():
    noise = np.random.default_rng(4).standard_normal((QUESTIONS, DIMENSION)) / 25
    return unit(handbook()[:QUESTIONS] + noise)


def copies_for(scopes):
    """Return the records of one copy of the handbook for each of the scopes."""
    records = []
    for scope in scopes:
        document_id = uuid.uuid4()
        records += [
            VectorRecord(uuid.uuid4(), document_id, scope, order, vector)
            for order, vector in enumerate(handbook())
        ]
    return records


def people(number):
    return [user_scope(uuid.uuid4()) for _ in range(number)]


def fill(store, records, sealed_rows=None):
    """Store the records in several segments; those after `sealed_rows` are not sealed."""
    count = len(records) if sealed_rows is None else sealed_rows
    for part in batched(records[:count], 250):
        store.upsert(part)
        store.flush()
    store.upsert(records[count:])


def exact_scores(records, question, *, scopes, chunk_ids=None):
    return {
        record.chunk_id: float(record.vector @ question)
        for record in records
        if record.scope in scopes and (chunk_ids is None or record.chunk_id in chunk_ids)
    }


def assert_exact(store, records, question, *, limit, **within):
    """Compare a search with a comparison of each vector; equal scores may come in any order."""
    scores = exact_scores(records, question, **within)
    hits = store.search(question, limit=limit, **within)
    best = sorted(scores.values(), reverse=True)[:limit]
    assert len({hit.chunk_id for hit in hits}) == len(hits)
    assert [hit.score for hit in hits] == pytest.approx(best, abs=1e-5)
    assert [hit.score for hit in hits] == pytest.approx(
        [scores[hit.chunk_id] for hit in hits], abs=1e-5
    )


@pytest.mark.parametrize("sealed_rows", SEALED_ROWS)
def test_search_is_exact_among_copies_in_many_scopes(store, sealed_rows):
    scopes = people(COPIES)
    records = copies_for(scopes)
    fill(store, records, sealed_rows)

    for question in questions():
        assert_exact(store, records, question, scopes=scopes, limit=LIMIT)
        for scope in scopes[::4]:
            assert_exact(store, records, question, scopes=[scope], limit=LIMIT)
            assert_exact(store, records, question, scopes=[scope], limit=HANDBOOK * 2)


@pytest.mark.parametrize("sealed_rows", SEALED_ROWS)
def test_search_is_exact_among_copies_in_one_scope(store, sealed_rows):
    scopes = people(1)
    records = copies_for(scopes * COPIES)
    fill(store, records, sealed_rows)

    for question in questions():
        for limit in (LIMIT, HANDBOOK * COPIES // 2, HANDBOOK * COPIES):
            assert_exact(store, records, question, scopes=scopes, limit=limit)


@pytest.mark.parametrize("sealed_rows", SEALED_ROWS)
def test_search_for_chunks_is_exact_among_copies(store, sealed_rows):
    scopes = people(COPIES)
    records = copies_for(scopes)
    fill(store, records, sealed_rows)

    for scope in scopes[::4]:
        own = [record.chunk_id for record in records if record.scope == scope]
        for wanted in (own[:1], own[::7], [records[0].chunk_id, own[-1]]):
            within = {"scopes": [scope], "chunk_ids": wanted}
            assert_exact(store, records, questions()[0], limit=len(wanted), **within)


def test_small_documents_are_indexed_without_a_word(owner_process, store):
    _client, process = owner_process
    said = len(process.log)
    fill(store, copies_for(people(1))[:2])

    assert store.count() == 2
    assert process.log[said:] == []


@pytest.fixture
def graph_folder(tmp_path):
    """A data folder as earlier versions left it: its index is a graph. With its records."""
    scopes = people(COPIES)
    records = copies_for(scopes)
    with owner_of(tmp_path) as process:
        client = ready_client(tmp_path)
        client.ensure(DIMENSION)
        fill(client, records)
        client.close()
        process.signal(signal.SIGTERM)
        process.wait()
    change_collection(tmp_path, make_graph)
    return tmp_path, records


def change_collection(data_dir, change):
    database = MilvusLite(str(folder_of(data_dir)))
    change(database.get_collection(COLLECTION))
    database.close()


def make_graph(collection):
    collection.drop_index(VECTOR_FIELD)
    graph = {"index_type": "AUTOINDEX", "metric_type": "COSINE", "params": {}}
    collection.create_index(VECTOR_FIELD, graph)


def drop_index(collection):
    collection.drop_index(VECTOR_FIELD)


def index_files(data_dir):
    return {path.suffixes[-2] for path in folder_of(data_dir).rglob("*.idx")}


def start_and_compare(data_dir, records):
    """Start an owner, compare its searches, stop it; return what it told of the folder."""
    with owner_of(data_dir) as process:
        client = ready_client(data_dir)
        assert client.count() == len(records)
        for record in records[:: HANDBOOK * 4]:
            for question in questions():
                assert_exact(client, records, question, scopes=[record.scope], limit=LIMIT)
        client.close()
        process.signal(signal.SIGTERM)
        assert process.wait() == 0
    return [line for line in process.log if "vector folder" in line]


def test_a_folder_with_a_graph_is_given_the_exact_index_once(graph_folder):
    data_dir, records = graph_folder
    assert index_files(data_dir) == {".autoindex"}

    (told,) = start_and_compare(data_dir, records)

    assert told.endswith(f"vector folder: {COLLECTION} is given an exact index")
    assert index_files(data_dir) == {".ivf_flat"}
    assert start_and_compare(data_dir, records) == []


def test_a_folder_whose_index_was_only_dropped_is_given_the_exact_one(graph_folder):
    data_dir, records = graph_folder
    change_collection(data_dir, drop_index)

    assert start_and_compare(data_dir, records) == []
    assert index_files(data_dir) == {".ivf_flat"}


def test_a_folder_with_a_damaged_graph_loses_no_vector(graph_folder):
    data_dir, records = graph_folder
    for path in folder_of(data_dir).rglob("*.idx"):
        path.write_bytes(b"noise" * 20)

    start_and_compare(data_dir, records)

    assert index_files(data_dir) == {".ivf_flat"}
