"""manage.py serve as a person and an init system meet it: real processes on free ports."""

import signal
import socket

import pytest

from tests.server_process import ServerProcess, is_running, manage, wait_until

# An answer that is being written and a document that is being indexed, by nobody.
LEAVE_WORK = (
    "shell",
    "--no-imports",
    "--command",
    """
from django.core.files.base import ContentFile
from apps.accounts.local_user import local_user
from apps.chat.sessions import create_session
from apps.chat.turns.start import start_turn
from apps.documents.indexing import jobs
from apps.documents.uploads.accept import accept_upload
import uuid

session = create_session(local_user())
start_turn(session, "问题")
document = accept_upload(local_user(), ContentFile("年假十五天。".encode(), name="手册.txt"))
jobs.claim_next(uuid.uuid4())
print(session.id, document.id)
""",
)


def test_health_of_a_new_server(served):
    health = served.health()

    states = {name: part["state"] for name, part in health["components"].items()}
    assert (health["status"], states, health["models"]) == (
        "ok",
        {"application": "ok", "database": "ok", "vector_store": "ok", "worker": "ok"},
        {"chat": "extractive", "embedding": "multilingual-e5-small (embedded)"},
    )
    assert health["providers"] == {"chat": "embedded", "embedding": "embedded"}
    assert str(served.data_dir) not in str(health)


@pytest.mark.parametrize("name", ["vectors", "worker", "web"])
def test_killed_child_is_started_again(served, name):
    killed = served.child(name)

    killed.kill()

    wait_until(lambda: served.child(name) not in {None, killed})
    wait_until(lambda: served.health().get("status") == "ok")
    assert f"serve | {name} ended (SIGKILL), starting again in 0.2 s" in served.log


def test_data_folder_in_use_is_refused(served):
    result = manage(served.data_dir, "serve", "--port", "0")

    assert (result.returncode, result.stdout, result.stderr) == (
        1,
        "",
        f"CommandError: {served.data_dir} is served already by another process\n",
    )


def test_port_in_use_is_refused(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        result = manage(tmp_path, "serve", "--port", str(port))

    expected = f"CommandError: cannot listen on 127.0.0.1 port {port}: Address already in use\n"
    assert (result.returncode, result.stdout, result.stderr) == (1, "", expected)


def test_foreign_host_is_refused_without_login(tmp_path):
    result = manage(tmp_path, "serve", "--host", "0.0.0.0")

    assert (result.returncode, result.stdout, result.stderr) == (
        1,
        "",
        "CommandError: --host 0.0.0.0: without login only this machine may be served; "
        "set KBQA_AUTH=login to serve others\n",
    )


def test_misspelt_setting_is_named(tmp_path):
    result = manage(tmp_path, "serve", "--host", "nowhere", KBQA_CHUNKSIZE="500")

    assert result.stderr == (
        "Configuration: KBQA_CHUNKSIZE is not known and has no effect\n"
        "CommandError: --host nowhere: write an IP address or localhost\n"
    )


def test_sigterm_ends_one_of_two_servers_in_time(served, tmp_path):
    with ServerProcess(tmp_path) as second:
        processes = second.descendants()

        second.signal(signal.SIGTERM)

        assert second.wait(timeout_s=10) == 0
        assert [p for p in processes if is_running(p)] == []
    assert served.health()["status"] == "ok"


def test_killed_supervisor_leaves_no_process_and_the_next_start_settles_its_work(tmp_path):
    with ServerProcess(tmp_path) as first:
        processes = first.descendants()
        session_id, document_id = manage(tmp_path, *LEAVE_WORK).stdout.split()

        first.signal(signal.SIGKILL)

        assert first.wait() == -signal.SIGKILL
        with ServerProcess(tmp_path) as second:
            assert [p for p in processes if is_running(p)] == []
            question, answer = second.get(f"/api/v1/sessions/{session_id}/messages")["items"]
            assert (question["content"], answer["status"]) == ("问题", "failed")
            wait_until(
                lambda: second.get(f"/api/v1/documents/{document_id}")["status"] == "indexed"
            )
