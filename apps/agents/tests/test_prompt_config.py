"""A mistake in the configuration files is one line that names the file and the key."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from apps.agents.prompts import (
    CONFIG_DIR,
    FLOW_ORDER,
    PLACES,
    PromptConfigError,
    load_prompt_config,
)

FILES = sorted(str(p.relative_to(CONFIG_DIR)) for p in CONFIG_DIR.rglob("*") if p.is_file())
WORDS = "early_search.simple_question.compound_words"
COVERAGE = "early_search.sufficient_evidence.least_coverage"
YAML_FILES = [file for file in FILES if file.endswith(".yaml")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(CONFIG_DIR, tmp_path / "config"))


def mistake(folder: Path) -> str:
    with pytest.raises(PromptConfigError) as caught:
        load_prompt_config(folder)
    return str(caught.value)


def change(folder: Path, file: str, old: str, new: str) -> None:
    text = (folder / file).read_text(encoding="utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1), encoding="utf-8")


def test_shipped_files_are_valid_and_complete() -> None:
    loaded = load_prompt_config(CONFIG_DIR)
    assert loaded.workflow.stages == FLOW_ORDER
    assert set(loaded.prompts) == set(PLACES)


@pytest.mark.parametrize("file", FILES)  # each file that is there is also read
def test_missing_file_is_named(folder: Path, file: str) -> None:
    (folder / file).unlink()
    assert mistake(folder) == f"{file}: is missing"


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"", "is empty"), (b" \n\t", "is empty"), (b"\xff\xfe\x00", "is not UTF-8 text")],
    ids=["empty", "blank", "binary"],
)
def test_file_without_text_is_named(folder: Path, file: str, content: bytes, reason: str) -> None:
    (folder / file).write_bytes(content)
    assert mistake(folder) == f"{file}: {reason}"


@pytest.mark.parametrize("file", FILES)
def test_folder_in_the_place_of_a_file_is_named(folder: Path, file: str) -> None:
    (folder / file).unlink()
    (folder / file).mkdir()
    assert mistake(folder) == f"{file}: cannot be read"


@pytest.mark.parametrize("file", YAML_FILES)
@pytest.mark.parametrize("content", ["- a list", "words", "7", "# only a comment"])
def test_other_type_than_a_mapping_is_named(folder: Path, file: str, content: str) -> None:
    (folder / file).write_text(content)
    assert mistake(folder) == f"{file}: must be a mapping"


@pytest.mark.parametrize("file", YAML_FILES)
def test_each_missing_and_each_unknown_key_is_named(folder: Path, file: str) -> None:
    content = yaml.safe_load((folder / file).read_text(encoding="utf-8"))
    for key in content:
        rest = {name: value for name, value in content.items() if name != key}
        (folder / file).write_text(yaml.safe_dump(rest))
        assert mistake(folder) == f"{file}: {key}: is missing"
    (folder / file).write_text(yaml.safe_dump(content | {"extra": 1}))
    word = {"agents": "stage", "tasks": "stage", "tools": "tool", "texts": "text"}
    expected = word.get(file.removesuffix(".yaml"), "key")
    assert mistake(folder) == f"{file}: extra: unknown {expected}"


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("workflow.yaml", "intent_repairs:", "intent_repair:", "intent_repair: unknown key"),
        (
            "workflow.yaml",
            "stages: [intent, ",
            "stages: [intend, ",
            "stages.0: Input should be 'intent', 'execution' or 'organization'",
        ),
        (
            "workflow.yaml",
            "stages: [intent, execution,",
            "stages: [execution, intent,",
            "stages: the flow knows this order only: intent, execution, organization",
        ),
        ("workflow.yaml", "stages: [", "stages: intent #", "stages: must be a list"),
        (
            "workflow.yaml",
            "{stage: intent,",
            "{stage: execution,",
            "short_circuit.stage: Input should be 'intent'",
        ),
        (
            "workflow.yaml",
            "intent_repairs: 1",
            "intent_repairs: yes",
            "intent_repairs: must be a whole number",
        ),
        (
            "workflow.yaml",
            "intent_repairs: 1",
            "intent_repairs: -1",
            "intent_repairs: Input should be greater than or equal to 0",
        ),
        (
            "workflow.yaml",
            "intent_repairs: 1",
            "intent_repairs: 1\nintent_repairs: 2",
            "is not valid YAML: the key intent_repairs stands there twice (line 6)",
        ),
        ("workflow.yaml", "stages:", "x: 2026-02-30\nstages:", "is not valid YAML"),
        (
            "workflow.yaml",
            "history_kept: [0.5, 0]",
            "history_kept: [0.5, 0.5]",
            "context_trim.history_kept: the shares must fall from request to request",
        ),
        (
            "workflow.yaml",
            "sources_kept: [0.5, 0]",
            "sources_kept: [1, 0]",
            "context_trim.sources_kept.0: Input should be less than 1",
        ),
        (
            "workflow.yaml",
            "sources_kept: [0.5, 0]",
            "sources_kept: [0.9, 0.7, 0.5, 0.3, 0.1]",
            "context_trim.sources_kept: Tuple should have at most 4 items after validation, not 5",
        ),
        (
            "workflow.yaml",
            "marker: INSUFFICIENT_EVIDENCE",
            "marker: no",
            "insufficient_marker: must be text",
        ),
        ("agents.yaml", "[research]", "[web]", "organization.tools: unknown tool web"),
        (
            "agents.yaml",
            "[research]",
            "[]",
            "organization.tools: the stage works with exactly [research]",
        ),
        (
            "agents.yaml",
            "tools: []",
            "tools: [research]",
            "intent.tools: the stage works with exactly []",
        ),
        (
            "agents.yaml",
            "name: main_agent",
            "name: research_agent",
            "organization.name: another stage has this name",
        ),
        ("agents.yaml", "name: main_agent", "name: ''", "organization.name: is empty"),
        ("agents.yaml", "name: main_agent", "name: 7", "organization.name: must be text"),
        (
            "agents.yaml",
            "role: {zh: 研究员, en:",
            "role: {zh: 研究员, de:",
            "execution.role.de: unknown key",
        ),
        ("agents.yaml", "role: {zh: 研究员,", "role: {zh: ' ',", "execution.role.zh: is empty"),
        (
            "agents.yaml",
            "role: {zh: 研究员,",
            "role: {zh: 研究员 $who,",
            "execution.role.zh: unknown placeholder who",
        ),
        (
            "tasks.yaml",
            "zh: 为用户消息",
            "zh: 为 5$ 消息",
            "execution.description.zh: a $ without a placeholder; write $$ for the sign itself",
        ),
        (
            "tools.yaml",
            "    query:",
            "    text:",
            "search_knowledge_base.parameters: unknown parameter text",
        ),
        (
            "tools.yaml",
            "type: string",
            "type: number",
            "search_knowledge_base.parameters.query.type: Input should be 'string'",
        ),
        (
            "texts.yaml",
            "refusal:",
            "refusal: [",
            "is not valid YAML: expected ',' or ']', but got ':' (line 4)",
        ),
        ("workflow.yaml", "stages:", "x: !!timestamp no\nstages:", "is not valid YAML"),
        ("workflow.yaml", "stages: [", "stages: " + "[" * 2000, "is not valid YAML"),
        ("workflow.yaml", "stages:", '"a\\nb\\e[1m": 1\nstages:', "a b [1m: unknown key"),
        ("workflow.yaml", "zh: 0.6", "zh: yes", f"{COVERAGE}.zh: must be a number"),
        ("workflow.yaml", "zh: 比较|", "zh: (|", f"{WORDS}.zh: is not a regular expression"),
        (
            "workflow.yaml",
            "zh: 比较|",
            f"zh: {'(' * 5000}{')' * 5000}|",
            f"{WORDS}.zh: is not a regular expression",
        ),
        (
            "workflow.yaml",
            "zh: 比较|",
            "zh: (比+)+较|",
            f"{WORDS}.zh: words repeat nothing: leave out *, + and {{",
        ),
        ("workflow.yaml", "zh: 比较|", "zh: 比较||", f"{WORDS}.zh: stands in every question"),
        (
            "agents.yaml",
            "name: main_agent",
            "name: main agent",
            "organization.name: must be one word of at most 64 characters",
        ),
        (
            "agents.yaml",
            "role: {zh: 研究员,",
            r'role: {zh: "\ud800",',
            "execution.role.zh: holds a control character",
        ),
        ("prompts/intent.zh.md", "$task", "$task\0", "holds a control character"),
        ("texts.yaml", "$labels", "$label", "evidence.zh: unknown placeholder label"),
        ("texts.yaml", "$labels", "", "evidence.zh: the placeholder labels is missing"),
        ("prompts/intent.zh.md", "$task", "$tsak", "unknown placeholder tsak"),
        ("prompts/system.en.md", "$profile", "", "the placeholder profile is missing"),
        (
            "prompts/system.en.md",
            "$profile",
            "$ profile",
            "a $ without a placeholder; write $$ for the sign itself",
        ),
    ],
)
def test_mistake_is_one_line_with_file_and_key(
    folder: Path, file: str, old: str, new: str, message: str
) -> None:
    change(folder, file, old, new)
    assert mistake(folder) == f"{file}: {message}"
