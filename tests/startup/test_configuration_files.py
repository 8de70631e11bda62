"""A configuration file that is missing ends each command with one line that names it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from kbqa_project.env import BASE_DIR
from tests.server_process import product_environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# One of each kind: `test_checks.py` of both apps tries every file.
PROMPT = "agents/prompts/config/prompts/intent.en.md"
FILES = {
    f"apps/{PROMPT}": PROMPT,
    "apps/llm/pricing/catalogue/prices.yaml": "prices.yaml",
}
COMMANDS = (
    ("serve", "--port", "0"),
    ("prepare",),
    ("web",),
    ("ask", "问题"),
    ("agents", "show"),
)


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the code, in which files may be deleted."""
    copy = tmp_path_factory.mktemp("product")
    for name in ("apps", "kbqa_project"):
        ignored = shutil.ignore_patterns("tests", "__pycache__")
        shutil.copytree(BASE_DIR / name, copy / name, ignore=ignored)
    shutil.copy(BASE_DIR / "manage.py", copy)
    return copy


def run(product: Path, *arguments: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=product,
        env=product_environment(product / "data"),
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(params=FILES)
def missing(request: pytest.FixtureRequest, product: Path) -> Iterator[str]:
    """The name of a file that is not there, as a message shows it."""
    path = product / request.param
    content = path.read_bytes()
    path.unlink()
    yield FILES[request.param]
    path.write_bytes(content)


def test_missing_file_is_reported_by_check(product: Path, missing: str) -> None:
    code, _output, errors = run(product, "check")
    reported = [line for line in errors.splitlines() if "is missing" in line]
    ends = [line.partition(") ")[2] for line in reported]
    assert (code, ends, "Traceback" in errors) == (1, [f"{missing}: is missing"], False)


def test_missing_file_ends_each_command_with_one_line(product: Path, missing: str) -> None:
    expected = (1, "", f"CommandError: {missing}: is missing\n")
    assert {command: run(product, *command) for command in COMMANDS} == dict.fromkeys(
        COMMANDS, expected
    )
