"""An installation on a data folder of its own, whose processes a test may kill one by one."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any
from uuid import UUID

from apps.documents.tests.processes import ManagedProcess, wait_until_ready
from apps.documents.tests.test_vector_store import KEY_VARIABLE, SECRET, key_of
from apps.documents.vectors.client import VectorClient
from tests.server_process import manage, product_environment, wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fault_server import FaultServer

INDEXING_TIMEOUT_S = 60
EMBEDDING_DIM = 8


class Installation:
    """Its processes embed at the endpoint that `variables` name."""

    def __init__(self, data_dir: Path, upstream: FaultServer) -> None:
        self.data_dir = data_dir
        self.upstream = upstream
        self.store = VectorClient(data_dir / "vectors.sock", key=key_of(data_dir))

    @property
    def variables(self) -> dict[str, str]:
        return {
            KEY_VARIABLE: SECRET,
            "KBQA_EMBEDDING_API_KEY": "none",
            "KBQA_EMBEDDING_BASE_URL": self.upstream.base_url,
            "KBQA_EMBEDDING_DIM": str(EMBEDDING_DIM),
        }

    def manage(self, *arguments: str, **variables: str) -> Any:
        """Run a command to its end."""
        return manage(self.data_dir, *arguments, **self.variables | variables)

    def start(self, command: str) -> ManagedProcess:
        """Start a command that goes on running."""
        environment = product_environment(self.data_dir, **self.variables)
        return ManagedProcess(command, environment=environment)

    def start_owner(self) -> ManagedProcess:
        """Start the owner of the vectors and wait until it is ready."""
        process = self.start("vector_server")
        wait_until_ready(self.store)
        return process

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """Return what a query of the database finds, without waiting for writers."""
        path = self.data_dir / "kbqa.sqlite3"
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            return database.execute(statement).fetchall()

    def value(self, statement: str) -> Any:
        """Return the first column of the first row."""
        return self.rows(statement)[0][0]

    def wait_for(self, statement: str) -> None:
        """Return at once when the query's first value becomes true."""
        deadline = time.monotonic() + INDEXING_TIMEOUT_S
        while not self.value(statement):
            assert time.monotonic() < deadline, self.rows("SELECT * FROM documents")
            time.sleep(0.001)

    def wait_until_settled(self) -> None:
        """Wait until no document waits or is being indexed."""
        unfinished = "SELECT COUNT(*) FROM documents WHERE status IN ('pending', 'indexing')"
        wait_until(lambda: self.value(unfinished) == 0, timeout_s=INDEXING_TIMEOUT_S)

    def assert_whole(self) -> None:
        """Every document is indexed, with the same chunks in both stores and nothing else."""
        counts = {
            UUID(pk): number
            for pk, number in self.rows("SELECT document_id, COUNT(*) FROM chunks GROUP BY 1")
        }
        documents = self.rows("SELECT id, status, chunk_count, error_code FROM documents")
        expected = [(pk.hex, "indexed", number, None) for pk, number in counts.items()]
        assert sorted(documents) == sorted(expected)
        assert self.store.counts_by_document() == counts
        indexes = self.rows("SELECT document_id, order_index FROM chunks")
        assert len(indexes) == len(set(indexes)) == sum(counts.values())
        assert self.rows("SELECT DISTINCT status, lease FROM index_jobs") == [("succeeded", None)]
        assert self.value("SELECT MIN(embedding_tokens) FROM index_jobs") > 0
        assert self.value("SELECT MIN(cost_micro) FROM index_jobs") > 0
        files = {path.stem for path in (self.data_dir / "raw").iterdir()}
        assert files == {str(pk) for pk in counts}
