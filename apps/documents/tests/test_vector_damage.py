"""A damaged vector folder still starts, and loses no more than it must."""

from __future__ import annotations

import logging
import shutil
import uuid

import pytest
from milvus_lite.db import MilvusLite

from apps.documents.tests.processes import ManagedProcess, folder_of, wait_until_ready
from apps.documents.tests.test_vector_store import KEY_VARIABLE, SECRET, key_of, record
from apps.documents.vectors.client import VectorClient
from apps.documents.vectors.folder_repair import load_collections
from apps.documents.vectors.milvus import COLLECTION
from tests.server_process import product_environment

SEGMENTS, ROWS = 3, 40
NONE, ONE_SEGMENT, ALL = SEGMENTS * ROWS, (SEGMENTS - 1) * ROWS, 0


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A folder with three sealed segments."""
    data_dir = tmp_path_factory.mktemp("sound")
    environment = product_environment(data_dir, **{KEY_VARIABLE: SECRET})
    with ManagedProcess("vector_server", environment=environment) as process:
        client = VectorClient(data_dir / "vectors.sock", key=key_of(data_dir))
        wait_until_ready(client)
        client.ensure(4)
        for _ in range(SEGMENTS):
            client.upsert([record([1.0, i, 0.0, 0.0]) for i in range(ROWS)])
            client.flush()
        client.close()
        process.signal(15)
        process.wait()
    return folder_of(data_dir)


@pytest.fixture
def folder(sound, tmp_path):
    return shutil.copytree(sound, tmp_path / "kbqa.db")


def first_segment(folder):
    return min((folder / "collections" / COLLECTION).glob("partitions/*/data/*.parquet"))


def overwrite_start(folder):
    content = bytearray(first_segment(folder).read_bytes())
    content[:50] = bytes(range(50))
    first_segment(folder).write_bytes(content)


def replace_with_noise(folder):
    first_segment(folder).write_bytes(bytes(range(50)))


def remove_segment(folder):
    first_segment(folder).unlink()


def break_indexes(folder):
    for path in folder.rglob("*.idx"):
        path.write_bytes(b"noise" * 20)


def break_manifests(folder):
    for path in folder.rglob("manifest.json*"):
        path.write_text("{noise")


def remove_manifests(folder):
    for path in folder.rglob("manifest.json*"):
        path.unlink()


def break_schema(folder):
    next(folder.rglob("schema.json")).write_text("{noise")


def remove_schema(folder):
    next(folder.rglob("schema.json")).unlink()


@pytest.mark.parametrize(
    ("damage", "rows_left"),
    [
        (lambda _folder: None, NONE),
        (break_indexes, NONE),
        (overwrite_start, ONE_SEGMENT),
        (replace_with_noise, ONE_SEGMENT),
        (remove_segment, ONE_SEGMENT),
        (break_manifests, ALL),
        (remove_manifests, ALL),
        (break_schema, ALL),
        (remove_schema, ALL),
    ],
)
def test_a_damaged_folder_opens_with_what_can_be_read(folder, damage, rows_left):
    damage(folder)
    database = MilvusLite(str(folder))

    load_collections(database, folder)

    names = database.list_collections()
    rows = database.get_collection(COLLECTION).num_entities if names else 0
    database.close()
    assert rows == rows_left


def test_damaged_files_are_set_aside_and_not_deleted(folder, caplog):
    replace_with_noise(folder)
    noise = first_segment(folder)
    database = MilvusLite(str(folder))

    with caplog.at_level(logging.WARNING):
        load_collections(database, folder)
    database.close()

    assert (folder.parent / "kbqa.db.damaged" / noise.name).read_bytes() == bytes(range(50))
    assert f"{noise} is damaged and set aside" in caplog.text


def test_a_collection_that_was_set_aside_can_be_made_anew(folder):
    remove_schema(folder)
    environment = product_environment(folder.parent, KBQA_MILVUS_URI=str(folder))
    environment[KEY_VARIABLE] = SECRET
    client = VectorClient(folder.parent / "vectors.sock", key=key_of(folder.parent))

    with ManagedProcess("vector_server", environment=environment):
        wait_until_ready(client)
        document_id = uuid.uuid4()
        client.ensure(4)
        client.upsert([record([1.0, 0.0, 0.0, 0.0], document_id=document_id)])
        client.flush()
        assert client.counts_by_document() == {document_id: 1}
        client.close()


def test_a_folder_without_permission_is_no_damage(folder, monkeypatch):
    def refuse(_name):
        raise PermissionError(13, "Permission denied")

    database = MilvusLite(str(folder))
    monkeypatch.setattr(database, "get_collection", refuse)

    with pytest.raises(PermissionError):
        load_collections(database, folder)

    monkeypatch.undo()
    database.close()
    assert not (folder.parent / "kbqa.db.damaged").exists()
