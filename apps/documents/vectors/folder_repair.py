"""Opens the collections of a Milvus Lite folder, setting aside what cannot be read.

Vectors are made from the stored originals, so damage is never a reason not to start: the recovery
counts what is missing and makes it anew. The least that helps is set aside: the search indexes,
then the unreadable files, then the whole collection. Errors of the operating system (no space, no
permission) are no damage: they are raised.
"""

from __future__ import annotations

import logging
import pickle
import shutil
from functools import partial
from typing import TYPE_CHECKING

from apps.documents.vectors.milvus import COLLECTION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from milvus_lite.db import MilvusLite

logger = logging.getLogger(__name__)

COLLECTIONS = "collections"
ASIDE_SUFFIX = ".damaged"


def load_collections(database: MilvusLite, folder: Path) -> None:
    """Load every collection; what is damaged lies in `<folder>.damaged` afterwards.

    Raises:
        OSError: the operating system refuses access.
    """
    aside = folder.with_name(folder.name + ASIDE_SUFFIX)
    for directory in sorted((folder / COLLECTIONS).iterdir()):
        if not any(_loads(database, directory) for _ in _repairs(directory, aside)):
            _move(directory, aside)


def _repairs(directory: Path, aside: Path) -> Iterator[None]:
    """Yield before each attempt to load: first as it is, then with ever more set aside."""
    yield
    for indexes in directory.glob("partitions/*/indexes"):
        shutil.rmtree(indexes)
    yield
    for path in list(directory.glob("partitions/**/*.parquet")):
        if not _succeeds(partial(_read, path)):
            _move(path, aside)
    yield


def _loads(database: MilvusLite, directory: Path) -> bool:
    has_data = next(directory.glob("partitions/**/*.parquet"), None) is not None
    if has_data and next(directory.glob("manifest.json*"), None) is None:
        return False
    return _succeeds(partial(_open, database, directory.name))


def _open(database: MilvusLite, name: str) -> None:
    from apps.documents.vectors.exact_index import give_exact_index  # noqa: PLC0415 - owner only

    collection = database.get_collection(name)
    if name == COLLECTION:
        give_exact_index(collection)
    collection.load()


def _read(path: Path) -> None:
    from pyarrow import parquet  # noqa: PLC0415 - slow import, needed for damaged folders only

    parquet.read_table(path)


def _succeeds(call: Callable[[], object]) -> bool:
    from milvus_lite.exceptions import MilvusLiteError  # noqa: PLC0415 - owner process only

    damage = (MilvusLiteError, ValueError, KeyError, TypeError, EOFError, RuntimeError)
    try:
        call()
    except (*damage, pickle.UnpicklingError) as error:
        logger.warning("vector folder: %s", error)
    except OSError as error:  # Arrow reports broken data as an OSError without a number
        if error.errno is not None:
            raise
        logger.warning("vector folder: %s", error)
    else:
        return True
    return False


def _move(path: Path, aside: Path) -> None:
    target = aside / path.name
    logger.warning("vector folder: %s is damaged and set aside as %s", path, target)
    aside.mkdir(mode=0o700, exist_ok=True)
    if target.is_dir():
        shutil.rmtree(target)
    path.rename(target)
