"""The process that owns the vector folder: one at a time, private, and ended without loss."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import uuid

import pytest

from apps.documents.errors import VectorStoreLoadingError, VectorStoreUnavailableError
from apps.documents.tests.processes import ManagedProcess, folder_of, wait_until_ready
from apps.documents.tests.test_vector_store import KEY_VARIABLE, SECRET, key_of, record
from apps.documents.vectors.client import VectorClient
from kbqa_project.env import BASE_DIR
from tests.server_process import product_environment, wait_until


@pytest.fixture
def environment(tmp_path):
    return product_environment(tmp_path, **{KEY_VARIABLE: SECRET})


@pytest.fixture
def client(tmp_path):
    return VectorClient(tmp_path / "vectors.sock", key=key_of(tmp_path))


def test_vector_server_keeps_everything_over_a_clean_stop(environment, client):
    with ManagedProcess("vector_server", environment=environment) as process:
        wait_until_ready(client)
        client.ensure(2)
        document_id = uuid.uuid4()
        client.upsert([record([1.0, 0.0], document_id=document_id)])
        process.signal(signal.SIGTERM)
        assert process.wait() == 0

    with ManagedProcess("vector_server", environment=environment):
        wait_until_ready(client)
        assert client.counts_by_document() == {document_id: 1}


def test_vector_server_keeps_acknowledged_vectors_over_a_kill(environment, client):
    document_id = uuid.uuid4()
    with ManagedProcess("vector_server", environment=environment) as process:
        wait_until_ready(client)
        client.ensure(2)
        client.upsert([record([1.0, i], document_id=document_id) for i in range(500)])
        process.kill()

    with ManagedProcess("vector_server", environment=environment):
        wait_until_ready(client)
        assert client.counts_by_document() == {document_id: 500}


def test_a_second_vector_server_ends_with_one_line_and_leaves_the_first_alone(
    environment, client, tmp_path
):
    with ManagedProcess("vector_server", environment=environment):
        wait_until_ready(client)
        with ManagedProcess("vector_server", environment=environment) as second:
            assert second.wait() == 3
            assert second.log == [f"向量库目录已被另一个进程占用：{folder_of(tmp_path)}"]
        assert client.health().state == "ready"


def test_the_socket_is_private_and_needs_the_key(environment, client, tmp_path):
    with ManagedProcess("vector_server", environment=environment):
        wait_until_ready(client)

        mode = (tmp_path / "vectors.sock").stat().st_mode
        assert (stat.S_ISSOCK(mode), stat.S_IMODE(mode)) == (True, 0o600)
        stranger = VectorClient(tmp_path / "vectors.sock", key=b"another key")
        with pytest.raises(VectorStoreUnavailableError):
            stranger.health()
        assert client.health().state == "ready"


def test_vector_server_ends_when_its_parent_is_gone(environment, client):
    read_end, write_end = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "manage.py", "vector_server", "--parent-fd", str(read_end)],
        cwd=BASE_DIR,
        env=environment,
        pass_fds=(read_end,),
    )
    os.close(read_end)
    wait_until_ready(client)

    os.close(write_end)

    assert process.wait(5) == 0
    with pytest.raises(VectorStoreUnavailableError):
        client.health()


def test_calls_are_refused_while_the_data_loads(environment, client):
    with ManagedProcess("vector_server", environment=environment):
        wait_until(lambda: _is_loading(client))

        with pytest.raises(VectorStoreLoadingError):
            client.count()
        wait_until_ready(client)
        assert client.count() == 0


def test_a_frozen_vector_server_is_reported_and_not_waited_for(environment, client):
    with ManagedProcess("vector_server", environment=environment) as process:
        wait_until_ready(client)
        process.signal(signal.SIGSTOP)
        with pytest.raises(VectorStoreUnavailableError):
            client.health()
        process.signal(signal.SIGCONT)
        wait_until_ready(client)


def test_a_client_survives_a_restart_of_the_server(environment, client):
    with ManagedProcess("vector_server", environment=environment) as process:
        wait_until_ready(client)
        before = client.health().instance
        process.kill()
    with ManagedProcess("vector_server", environment=environment):
        wait_until_ready(client)
        assert client.health().instance != before
        assert client.count() == 0


def test_a_data_folder_with_a_long_path_is_served_from_a_private_directory(tmp_path):
    data_dir = tmp_path / ("long-" * 30)
    script = (
        "import django; django.setup();"
        "from apps.documents.vectors.access import ready_store;"
        "print(ready_store(unavailable_s=30).health().state)"
    )
    environment = product_environment(
        data_dir, DJANGO_SETTINGS_MODULE="kbqa_project.settings", TMPDIR=str(tmp_path)
    )
    with ManagedProcess("vector_server", environment=environment):
        answer = subprocess.run(
            [sys.executable, "-c", script],
            cwd=BASE_DIR,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
    (directory,) = tmp_path.glob("kbqa-*-*")

    assert answer.stdout == "ready\n"
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700


def _is_loading(client):
    try:
        return client.health().state == "loading"
    except VectorStoreUnavailableError:
        return False
