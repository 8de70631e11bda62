"""The size caps that no linter gives: modules of at most 400 lines, functions of at most 40."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from kbqa_project.env import BASE_DIR

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MODULE_MAX_LINES = 400
FUNCTION_MAX_LINES = 40
FOLDERS = ("apps", "benchmarks", "checks", "kbqa_project", "quality", "tests")
VAGUE_NAMES = {"utils", "helpers", "common", "manager", "managers", "service", "services", "misc"}


def modules() -> Iterator[Path]:
    for folder in FOLDERS:
        for path in sorted((BASE_DIR / folder).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path


def functions(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def test_no_module_is_too_long():
    lengths = {str(p.relative_to(BASE_DIR)): len(p.read_text().splitlines()) for p in modules()}

    assert {name: n for name, n in lengths.items() if n > MODULE_MAX_LINES} == {}


def test_no_function_is_too_long():
    too_long = {
        f"{path.relative_to(BASE_DIR)}:{name}": lines
        for path in modules()
        for name, lines in functions(path)
        if lines > FUNCTION_MAX_LINES
    }

    assert too_long == {}


def test_every_module_is_named_after_a_job():
    vague = [str(p.relative_to(BASE_DIR)) for p in modules() if p.stem in VAGUE_NAMES]

    assert vague == []
