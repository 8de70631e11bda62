"""`manage.py check` names the mistake in a template."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from django.core.checks import run_checks
from django.core.management.base import CommandError

from apps.agents import prompts
from apps.core.processes.configuration import CONFIGURATION, refuse_wrong_configuration

FILES = sorted(
    str(path.relative_to(prompts.CONFIG_DIR))
    for path in prompts.CONFIG_DIR.rglob("*")
    if path.is_file()
)


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the templates that the check looks at."""
    folder = Path(shutil.copytree(prompts.CONFIG_DIR, tmp_path / "config"))
    monkeypatch.setattr(prompts, "CONFIG_DIR", folder)
    return folder


def test_valid_templates_are_no_mistake(config: Path) -> None:
    assert run_checks(tags=[CONFIGURATION]) == []
    refuse_wrong_configuration()


@pytest.mark.parametrize("file", FILES)
def test_deleted_file_is_one_error_and_refused(config: Path, file: str) -> None:
    (config / file).unlink()
    shown = f"{config.parts[-3]}/{config.parts[-2]}/config/{file}: is missing"
    found = run_checks(tags=[CONFIGURATION])
    assert [(error.id, error.msg) for error in found] == [("agents.E001", shown)]
    with pytest.raises(CommandError) as refused:
        refuse_wrong_configuration()
    assert str(refused.value) == shown
