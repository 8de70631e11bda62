"""One server for all tests that need a real one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.server_process import ServerProcess

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A running server with an empty data folder: `served.base_url`, `served.data_dir`."""
    with ServerProcess(tmp_path_factory.mktemp("served")) as server:
        yield server
