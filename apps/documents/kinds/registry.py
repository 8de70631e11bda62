"""All that the rest needs to know of a kind of file, and the kinds that there are."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from apps.documents import kinds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from apps.documents.reading.limits import Source
    from apps.documents.reading.pages import Part

HEAD_BYTES = 1024  # how much of a file's beginning tells its format


@dataclass(frozen=True, slots=True)
class Upload:
    """An upload to be checked: its first kilobyte, all of its bytes in blocks, declared type."""

    head: bytes
    blocks: Callable[[], Iterable[bytes]]
    declared_type: str = ""


@dataclass(frozen=True, slots=True)
class FileKind:
    """One kind of file.

    `code` is stored with each document and ends the name of the stored file. `extensions` are in
    lower case with their dot. `mime_type` is what is stored and served, whatever was declared.
    `marks` are first bytes that only files of this kind have. `check` returns what the reading
    needs not find again, as plain JSON values. `read` yields the parts of the text; it is run in
    the extraction child, but for files of up to `in_process_bytes`, so that its module imports
    no Django. Both raise UnreadableError. `label` is shown.
    """

    code: str
    label: str
    extensions: tuple[str, ...]
    mime_type: str
    check: Callable[[Upload], dict[str, object]]
    read: Callable[[Source], Iterator[Part]]
    marks: tuple[bytes, ...] = ()
    in_process_bytes: int = 0
    rank: int = 100  # kinds are shown in this order

    @property
    def reader(self) -> str:
        """Where the child finds `read`: module and name."""
        return f"{self.read.__module__}:{self.read.__qualname__}"


@cache
def installed() -> dict[str, FileKind]:
    """Return the kinds of this package's modules by their code, in the order to show them."""
    names = (module.name for module in pkgutil.iter_modules(kinds.__path__, f"{kinds.__name__}."))
    found = [getattr(importlib.import_module(name), "KIND", None) for name in names]
    ranked = sorted((kind for kind in found if kind), key=lambda kind: kind.rank)
    return {kind.code: kind for kind in ranked}


def kind_of_name(name: str) -> FileKind | None:
    """Return the kind that a file's name says, None when there is none of that extension."""
    lowered = name.lower()
    return next((k for k in installed().values() if lowered.endswith(k.extensions)), None)


def choices() -> list[tuple[str, str]]:
    """Return code and label of each kind, for the field of the model."""
    return [(kind.code, kind.label) for kind in installed().values()]


def extensions() -> list[str]:
    """Return the extensions of all kinds."""
    return [extension for kind in installed().values() for extension in kind.extensions]


def labels() -> list[str]:
    """Return the names of all kinds."""
    return [kind.label for kind in installed().values()]


def accepted() -> str:
    """Return the `accept` attribute of a field for files."""
    return ",".join([*extensions(), *(kind.mime_type for kind in installed().values())])
