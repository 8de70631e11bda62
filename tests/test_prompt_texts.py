"""Python code holds no text for models: roles, prompts and notes stand in `config/` alone."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest
import yaml

from apps.agents.prompts import CONFIG_DIR
from kbqa_project.env import BASE_DIR

if TYPE_CHECKING:
    from pathlib import Path

# Words that tell somebody what to do, at the length of a sentence or of an instruction.
ENGLISH_ORDER = re.compile(
    r"\b(?:you (?:are|must|may|should|work|will|can)|your (?:task|role|job|goal)|act as|"
    r"(?:answer|reply|respond|write|output|return|use|cite|search|call) (?:only|in|with|from)|"
    r"do not (?:answer|use|invent|mention|follow|reveal)|never (?:answer|state|reveal|follow)|"
    r"step by step|ignore (?:any|all|previous)|let'?s think)\b",
    re.IGNORECASE,
)
CHINESE_ORDER = re.compile(
    r"你是|您是|请(?:你|只|根据|用|勿|回答|输出)|不得|不要|必须|只能|仅输出|扮演"
)
HAN_SENTENCE = re.compile(r"[\u3400-\u9fff]{4,}")
LEAST_WORDS = 3
TRANSLATED = {"_", "gettext", "gettext_lazy", "ngettext", "ngettext_lazy"}
SHORTEST_COPY = 8  # characters of a text of `config/` that code may share by chance


def modules() -> list[Path]:
    found = [*(BASE_DIR / "apps/agents").rglob("*.py"), *(BASE_DIR / "apps/llm").rglob("*.py")]
    return sorted(p for p in found if "tests" not in p.parts and "migrations" not in p.parts)


def documentation(tree: ast.Module) -> set[ast.AST]:
    """The docstrings, and texts for people that the catalogue of translations holds."""
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    found: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, owners) and ast.get_docstring(node) is not None:
            found.add(node.body[0].value)  # type: ignore[attr-defined]
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) in TRANSLATED:
            found.update(node.args)
    return found


def literals(path: Path) -> list[tuple[int, str]]:
    """The texts in the code, with their lines; parts of f-strings count as texts."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    left_out = documentation(tree)
    return [
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in left_out
        if not is_pattern(node.value)
    ]


def is_pattern(text: str) -> bool:
    """Whether a text is a regular expression, which finds words and says nothing to a model."""
    return "(?:" in text or "[\\" in text


def is_order(text: str) -> bool:
    is_english = len(text.split()) >= LEAST_WORDS and ENGLISH_ORDER.search(text) is not None
    return is_english or CHINESE_ORDER.search(text) is not None


def places(texts: list[tuple[Path, int, str]]) -> list[str]:
    return [f"{path.relative_to(BASE_DIR)}:{line}: {text[:60]}" for path, line, text in texts]


def all_literals() -> list[tuple[Path, int, str]]:
    return [(path, line, text) for path in modules() for line, text in literals(path)]


def texts_of(part: object) -> list[str]:
    if isinstance(part, str):
        return [part]
    inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    return [text for value in inner for text in texts_of(value)]


def config_lines() -> set[str]:
    """The lines of everything that `config/` says to a model or a person."""
    texts = [path.read_text(encoding="utf-8") for path in CONFIG_DIR.rglob("*.md")]
    for name in ("agents", "tasks", "tools", "texts"):
        content = (CONFIG_DIR / f"{name}.yaml").read_text(encoding="utf-8")
        texts += texts_of(yaml.safe_load(content))
    lines = {" ".join(line.split()) for text in texts for line in text.splitlines()}
    identifier = re.compile(r"[$\w-]+")
    return {
        line for line in lines if len(line) >= SHORTEST_COPY and not identifier.fullmatch(line)
    }


def test_no_text_in_the_code_orders_a_model_about() -> None:
    assert places([found for found in all_literals() if is_order(found[2])]) == []


def test_agents_hold_no_chinese_sentence() -> None:
    agents = BASE_DIR / "apps/agents"
    found = [
        f for f in all_literals() if f[0].is_relative_to(agents) and HAN_SENTENCE.search(f[2])
    ]
    assert places(found) == []


def test_no_line_of_the_templates_stands_in_the_code() -> None:
    lines = config_lines()
    found = [f for f in all_literals() if any(line in " ".join(f[2].split()) for line in lines)]
    assert places(found) == []


def test_no_message_to_a_model_is_written_in_the_code() -> None:
    found = []
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = getattr(getattr(node, "func", None), "id", "")
            if isinstance(node, ast.Call) and name in {"SystemMessage", "HumanMessage"}:
                literal = node.args and isinstance(node.args[0], ast.Constant | ast.JoinedStr)
                found += [f"{path.relative_to(BASE_DIR)}:{node.lineno}"] if literal else []
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "You are a helpful researcher.",
        "Answer only from the evidence and cite every claim",
        "Your task: find passages",
        "Please think step by step about it",
        "你是一名研究员。",
        "请根据证据回答问题",
        "不得编造",
    ],
)
def test_the_search_finds_a_prompt(text: str) -> None:
    assert is_order(text)
