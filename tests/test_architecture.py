"""What docs/architecture.md names exists: modules, functions, files; and changes stay small."""

from __future__ import annotations

import importlib
import re
from typing import TYPE_CHECKING

import pytest

from kbqa_project.env import BASE_DIR

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = (BASE_DIR / "docs" / "architecture.md").read_text(encoding="utf-8")
APPS = sorted(path.name for path in (BASE_DIR / "apps").iterdir() if (path / "apps.py").exists())
NAME = re.compile(rf"(?<![\w./])(?:{'|'.join(APPS)}|kbqa_project)(?:\.\w+)+(?![\w/*])")
CODE = re.compile(r"^```\n(.*?)^```$|`([^`\n]+)`", re.MULTILINE | re.DOTALL)
CHANGES = PAGE.partition("## Ten changes")[2]
MOST_FILES = 5
GLOBS = re.compile(r"`([^`]+)`")


def named() -> list[str]:
    """The dotted names in code blocks and inline code, without the leading `apps.`."""
    blocks = (block or inline for block, inline in CODE.findall(PAGE))
    return sorted({name for text in blocks for name in NAME.findall(text)})


def changes() -> Iterator[tuple[str, list[str]]]:
    """The rows of the table of changes: what is changed, and the files that it touches."""
    for row in CHANGES.splitlines():
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        if row.startswith("|") and GLOBS.search(row):
            yield cells[0], GLOBS.findall(cells[1])


def resolves(name: str) -> bool:
    """Whether a dotted name is a module, or something in one."""
    parts = name.split(".")
    path = name if parts[0] == "kbqa_project" else f"apps.{name}"
    steps = path.split(".")
    for depth in range(len(steps), 0, -1):
        try:
            found: object = importlib.import_module(".".join(steps[:depth]))
        except ModuleNotFoundError:
            continue
        for attribute in steps[depth:]:
            found = getattr(found, attribute, None)
        return found is not None
    return False


@pytest.mark.parametrize("name", named())
def test_architecture_names_what_exists(name):
    assert resolves(name)


def test_architecture_shows_both_ways_with_functions():
    ways = [name for name in named() if not name.rpartition(".")[2][0].isupper()]

    assert len(ways) > 20


def test_ten_changes_touch_at_most_five_files_each():
    counts = {what: len(files) for what, files in changes()}

    assert len(counts) == 10
    assert {what: n for what, n in counts.items() if n > MOST_FILES} == {}


@pytest.mark.parametrize("path", sorted({path for _, files in changes() for path in files}))
def test_files_of_the_ten_changes_exist(path):
    assert list(BASE_DIR.glob(path.replace("<new>", "*"))), path
