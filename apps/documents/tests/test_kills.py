"""Nothing acknowledged is lost, whichever process is killed at whichever step of indexing."""

from __future__ import annotations

import shutil
import signal

import pytest

from apps.documents.tests.installation import EMBEDDING_DIM, Installation
from tests.fault_server import FaultServer
from tests.server_process import wait_until

PARAGRAPHS = 280  # two slices of chunks, and enough text for an extraction child
CHUNKS_WRITTEN = "SELECT COUNT(*) FROM chunks"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A data folder with an up-to-date database, and a long text file."""
    data_dir = tmp_path_factory.mktemp("prepared")
    with FaultServer(dimension=EMBEDDING_DIM) as upstream:
        assert Installation(data_dir, upstream).manage("migrate").returncode == 0
    paragraphs = (f"第{i}条：" + "员工应当遵守本制度的规定，" * 35 for i in range(PARAGRAPHS))
    (data_dir / "制度.txt").write_text("\n\n".join(paragraphs), encoding="utf-8")
    return data_dir


@pytest.fixture
def upstream():
    """The embedding endpoint until the kill."""
    with FaultServer(dimension=EMBEDDING_DIM) as server:
        yield server


@pytest.fixture
def site(prepared, tmp_path, upstream):
    """An installation that has accepted the file and not indexed it yet."""
    site = Installation(shutil.copytree(prepared, tmp_path / "data"), upstream)
    assert site.manage("ingest", "--no-wait", str(site.data_dir / "制度.txt")).returncode == 0
    yield site
    site.store.close()


def reach_extracting(site, _owner):
    site.wait_for("SELECT progress_stage = 'extracting' FROM documents")


def reach_embedding(site, _owner):
    wait_until(lambda: len(site.upstream.requests) > 3)


def reach_rows_without_vectors(site, owner):
    wait_until(lambda: len(site.upstream.requests) > 3)
    owner.signal(signal.SIGSTOP)
    site.wait_for(CHUNKS_WRITTEN)


def reach_upserting(site, _owner):
    wait_until(lambda: site.store.count() > 0)


def reach_flushing(site, _owner):
    site.wait_for("SELECT progress_stage = 'storing' FROM documents")


@pytest.mark.parametrize(
    "reach",
    [
        reach_extracting,
        reach_embedding,
        reach_rows_without_vectors,
        reach_upserting,
        reach_flushing,
    ],
)
def test_a_killed_worker_leaves_nothing_that_the_next_does_not_finish(site, reach):
    with site.start_owner() as owner:
        with site.start("worker") as worker:
            reach(site, owner)
            worker.kill()
        owner.signal(signal.SIGCONT)

        with site.start("worker"):
            site.wait_until_settled()
            site.assert_whole()


def test_a_killed_vector_owner_costs_no_document(site):
    with site.start("worker"):
        with site.start_owner() as owner:
            wait_until(lambda: site.store.count() > 0)
            owner.kill()
        with site.start_owner():
            site.wait_until_settled()
            site.assert_whole()


def test_lost_vectors_are_made_anew_after_a_restart(site):
    with site.start("worker"), site.start_owner():
        site.wait_until_settled()
    segment = next((site.data_dir / "milvus").rglob("data_*.parquet"))
    segment.write_bytes(b"noise" * 10)

    with site.start_owner(), site.start("worker"):
        site.wait_for("SELECT attempt_count = 2 FROM index_jobs")
        site.wait_until_settled()
        site.assert_whole()
