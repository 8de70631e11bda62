"""/health while parts are missing; the healthy answer is tested on a real server (startup)."""

from __future__ import annotations

import os
import time

import pytest

from apps.core.processes.heartbeat import start_heartbeat
from apps.documents.indexing.index_definition import COLLECTION, configured_definition
from apps.documents.models import Document, DocumentStatus, VectorIndex
from apps.documents.vectors.local_folder import LocalFolder
from apps.documents.vectors.server import VectorServer
from apps.documents.vectors.wire import auth_key, socket_path

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_folder(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    settings.WORKER_HEARTBEAT = tmp_path / "worker.alive"


@pytest.fixture
def loading_owner(tmp_path):
    """An owner of the vectors that has not loaded its data yet."""
    server = VectorServer(LocalFolder(tmp_path / "vectors.db"), socket_path(), key=auth_key())
    server.start()
    yield server
    server.close()


def states(response):
    return {name: part["state"] for name, part in response.json()["components"].items()}


def test_health_without_worker_and_vector_owner(client):
    response = client.get("/health")

    assert (response.status_code, response.json()["status"], states(response)) == (
        503,
        "down",
        {"application": "ok", "database": "ok", "vector_store": "down", "worker": "down"},
    )
    details = {name: part["detail"] for name, part in response.json()["components"].items()}
    assert (details["vector_store"], details["worker"]) == (
        "VECTOR_STORE_UNAVAILABLE",
        "no worker has started",
    )


def test_health_with_a_live_worker(client, settings):
    start_heartbeat(settings.WORKER_HEARTBEAT)

    assert states(client.get("/health"))["worker"] == "ok"


def test_health_with_a_silent_worker(client, settings):
    settings.WORKER_HEARTBEAT.touch()
    last = time.time() - 60
    os.utime(settings.WORKER_HEARTBEAT, (last, last))

    worker = client.get("/health").json()["components"]["worker"]

    assert (worker["state"], worker["detail"]) == ("down", "no sign of life for 60 s")


def test_health_while_vectors_are_loading(client, settings, loading_owner):
    start_heartbeat(settings.WORKER_HEARTBEAT)

    response = client.get("/health")

    assert (response.status_code, response.json()["status"]) == (503, "loading")


@pytest.mark.parametrize(
    ("model", "status_code", "state"),
    [("another model", 503, "unsearchable"), (None, 200, "outdated")],
)
def test_health_of_an_outdated_index(
    client, settings, loading_owner, django_user_model, model, status_code, state
):
    loading_owner.load()
    start_heartbeat(settings.WORKER_HEARTBEAT)
    VectorIndex.objects.create(
        collection=COLLECTION,
        embedding_model=model or configured_definition().embedding_model,
        dimension=384,
        chunk_size=700,
        chunk_overlap=50,
    )
    Document.objects.create(
        owner=django_user_model.objects.create_user("anna"),
        filename="手册.txt",
        file_type="txt",
        mime_type="text/plain",
        file_size=1,
        sha256="0" * 64,
        status=DocumentStatus.INDEXED,
        chunk_count=1,
    )

    response = client.get("/health")

    store = response.json()["components"]["vector_store"]
    assert (response.status_code, response.json()["status"], store["detail"]) == (
        status_code,
        state,
        "INDEX_OUTDATED: run manage.py reindex",
    )


def test_health_asks_no_login(client, settings):
    settings.LOCAL_MODE = False

    assert client.get("/health").status_code == 503


def test_health_refuses_other_methods(client):
    assert client.post("/health").status_code == 405
