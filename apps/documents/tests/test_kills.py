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
    """A data folder with a long document that is accepted and not indexed yet."""
    data_dir = tmp_path_factory.mktemp("prepared")
    paragraphs = (f"第{i}条：" + "员工应当遵守本制度的规定，" * 35 for i in range(PARAGRAPHS))
    path = data_dir / "制度.txt"
    path.write_text("\n\n".join(paragraphs), encoding="utf-8")
    with FaultServer(dimension=EMBEDDING_DIM) as upstream:
        site = Installation(data_dir, upstream)
        assert site.manage("migrate").returncode == 0
        assert site.manage("ingest", "--no-wait", str(path)).returncode == 0
    return data_dir


@pytest.fixture
def upstream():
    """The embedding endpoint until the kill."""
    with FaultServer(dimension=EMBEDDING_DIM) as server:
        yield server


@pytest.fixture
def site(prepared, tmp_path, upstream):
    """An installation of its own on that data."""
    site = Installation(shutil.copytree(prepared, tmp_path / "data"), upstream)
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


def test_the_commands_work_without_a_server_and_leave_no_process(site):
    path = site.data_dir / "more.md"
    path.write_text("# 停车\n\n停车证每年三月更新。", encoding="utf-8")

    ingested = site.manage("ingest", str(path))
    rebuilt = site.manage("reindex", KBQA_CHUNK_SIZE="300")

    assert (ingested.returncode, rebuilt.returncode) == (0, 0), ingested.stderr + rebuilt.stderr
    assert rebuilt.stdout == "已重建 2 个文档的索引，0 个失败。\n"
    with site.start_owner():
        site.assert_whole()
