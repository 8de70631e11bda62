"""A mistake in the configuration files is one line that names the file."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from apps.agents.blueprints import CONFIG_DIR, PLACES, BlueprintError, load_blueprints

FILES = sorted(path.relative_to(CONFIG_DIR) for path in CONFIG_DIR.rglob("*.*"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(CONFIG_DIR, tmp_path / "config"))


def test_shipped_files_are_valid_and_complete() -> None:
    loaded = load_blueprints(CONFIG_DIR)
    assert loaded.workflow.stages == ("intent", "execution", "organization")
    assert set(loaded.prompts) == set(PLACES)


@pytest.mark.parametrize("file", FILES, ids=str)
def test_missing_file_is_named(folder: Path, file: Path) -> None:
    (folder / file).unlink()
    with pytest.raises(BlueprintError, match=f"^{file.name}: cannot be read$"):
        load_blueprints(folder)


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        (
            "workflow.yaml",
            "intent_repairs: 1",
            "intent_repair: 1",
            "workflow.yaml: intent_repairs:",
        ),
        ("workflow.yaml", "[intent, ", "[intend, ", "workflow.yaml: stages.0:"),
        (
            "agents.yaml",
            "[research]",
            "[web]",
            "agents.yaml: organization.tools: unknown",
        ),
        ("agents.yaml", "role: {zh: 研究员, en:", "role: {zh: 研究员, de:", "agents.yaml: "),
        ("texts.yaml", "refusal:", "refusal: [", "texts.yaml: is not valid YAML"),
        ("texts.yaml", "$labels", "$label", "texts.yaml: evidence.zh: unknown or missing"),
        ("prompts/intent.zh.md", "$task", "$tsak", "intent.zh.md: unknown or missing placeholder"),
        ("prompts/system.en.md", "$profile", "", "system.en.md: unknown or missing placeholder"),
    ],
)
def test_mistake_is_one_line_with_the_file(
    folder: Path, file: str, old: str, new: str, message: str
) -> None:
    text = (folder / file).read_text(encoding="utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(BlueprintError) as caught:
        load_blueprints(folder)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)
