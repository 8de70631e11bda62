"""Opens the local Milvus Lite folder; refuses when another process holds it.

Milvus Lite's own server listens on TCP without a password. This one listens on a socket file in a
directory that only this user may enter, and only the owner process uses it.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from apps.documents.errors import VectorStoreLockedError
from apps.documents.vectors.folder_repair import load_collections

if TYPE_CHECKING:
    import grpc

STOP_GRACE_S = 1.0


class LocalFolder:
    """An open Milvus Lite folder; `start` serves it at `uri` to this process."""

    def __init__(self, path: Path) -> None:
        """Open `path`, which is made if absent.

        Raises:
            VectorStoreLockedError: another process holds it.
        """
        from milvus_lite.db import MilvusLite  # noqa: PLC0415 - slow import, owner only
        from milvus_lite.exceptions import DataDirLockedError  # noqa: PLC0415 - as above

        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            self._database = MilvusLite(str(path))
        except DataDirLockedError as error:
            raise VectorStoreLockedError(path=path) from error
        self._path = path
        self._socket_dir = tempfile.TemporaryDirectory(prefix="kbqa-")  # mkdtemp: mode 0700
        self._service: grpc.Server | None = None

    @property
    def uri(self) -> str:
        """Where a Milvus client of this process finds the folder."""
        return f"unix:{Path(self._socket_dir.name) / 'milvus.sock'}"

    def start(self) -> None:
        """Load the data and serve the folder; slow.

        Raises:
            OSError: the operating system refuses access to it.
        """
        from apps.documents.vectors.exact_index import (  # noqa: PLC0415 - as above
            train_without_warnings,
        )
        from apps.documents.vectors.lite_service import start_service  # noqa: PLC0415 - as above

        train_without_warnings()
        load_collections(self._database, self._path)
        self._service = start_service(self._database, self.uri)

    def close(self) -> None:
        """Flush, write what is pending and release the folder."""
        if self._service is not None:
            self._service.stop(grace=STOP_GRACE_S).wait()
        self._database.close()
        self._socket_dir.cleanup()
