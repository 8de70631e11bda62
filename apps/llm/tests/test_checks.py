"""`manage.py check` names the mistakes in the catalogue and in the prices."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from django.core.checks import run_checks

from apps.core.processes.configuration import CONFIGURATION
from apps.llm.endpoints import vendors
from apps.llm.pricing import price_table
from apps.llm.pricing.catalogue_file import CATALOGUE_DIR
from kbqa_project import env

FILES = sorted(path.name for path in CATALOGUE_DIR.iterdir())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the catalogue that the check looks at."""
    copy = Path(shutil.copytree(CATALOGUE_DIR, tmp_path / "catalogue"))
    monkeypatch.setattr(vendors, "CATALOGUE_FILE", copy / vendors.CATALOGUE_FILE.name)
    monkeypatch.setattr(price_table, "PRICES_FILE", copy / price_table.PRICES_FILE.name)
    return copy


def found() -> list[tuple[str | None, str]]:
    return [(error.id, error.msg) for error in run_checks(tags=[CONFIGURATION])]


def test_valid_files_are_no_mistake(folder: Path) -> None:
    assert found() == []


@pytest.mark.parametrize("file", FILES)
def test_deleted_file_is_one_error(folder: Path, file: str) -> None:
    (folder / file).unlink()
    assert found() == [("llm.E001", f"{file}: is missing")]


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"a: [", b"a: 2026-02-30", b"a: \x01"])
def test_unreadable_file_is_one_error(folder: Path, file: str, content: bytes) -> None:
    (folder / file).write_bytes(content)
    assert found() == [("llm.E001", f"{file}: is not valid YAML")]


def test_file_of_the_operator_is_checked(settings: Any, tmp_path: Path) -> None:
    settings.ENV = env.load(data_dir=settings.ENV.data_dir, prices_file=tmp_path / "own.yaml")
    assert found() == [("llm.E001", "own.yaml: is missing")]
