"""The effective workflow as text for a terminal of 80 columns (pure)."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from apps.agents.effective_workflow import (
        EffectiveStage,
        EffectiveWorkflow,
        OfferedTool,
        ServedModel,
    )

COLUMNS = 80
LABEL_COLUMNS = 10
_WORDS = re.compile(r"[\u2e80-\uffef][、。，；：！？）」』”]*|[^\s\u2e80-\uffef]+|\s+")
_LIST_MARK = re.compile(r"(?:\d+\.|-) ")
_STARTS_BLOCK = re.compile(r"\s*$|#|<|\$|(?:\d+\.|-) ")


def workflow_text(workflow: EffectiveWorkflow, *, with_prompts: bool) -> str:
    """Return the whole text; `with_prompts` adds the system prompt of each stage."""
    order = " -> ".join(stage.stage for stage in workflow.stages)
    lines = [f"Flow: {order}  (texts: {workflow.language})", ""]
    for number, stage in enumerate(workflow.stages, 1):
        lines += _stage_lines(number, stage)
        if with_prompts:
            lines += ["  prompt", *_prompt_lines(stage.system_prompt)]
        lines.append("")
    lines += ["Embeddings", *_row("model", _served(workflow.embedding)), ""]
    lines.append("Where the flow ends early")
    for end in workflow.early_ends:
        told = f"{end.stage}: when {end.when}, then {end.then}"
        lines += _wrapped(told, first="  ", rest="      ")
    lines.append("")
    lines += _section("Rules (config/workflow.yaml)", workflow.rules)
    lines += _section("Limits (settings)", workflow.limits)
    lines += _section("Time-outs in seconds (settings)", workflow.timeouts_s)
    lines += ["Tracing", *_row("LangSmith", "on" if workflow.is_traced else "off")]
    return "\n".join(lines)


def _stage_lines(number: int, stage: EffectiveStage) -> list[str]:
    rows = {
        "agent": f"{stage.agent} (tag {stage.tag})",
        "model": _served(stage.served_by),
        "role": stage.role,
        "goal": stage.goal,
        "task": stage.task,
        "files": ", ".join(stage.prompt_files),
    }
    lines = [f"{number}. {stage.stage}"]
    for label, text in rows.items():
        lines += _row(label, text)
    for tool in stage.tools:
        lines += _tool_lines(tool)
    return lines if stage.tools else [*lines, *_row("tools", "none")]


def _tool_lines(tool: OfferedTool) -> list[str]:
    lines = _row("tool", f"{tool.name}: {tool.description}")
    required = tool.parameters.get("required", ())
    for name, schema in tool.parameters["properties"].items():
        need = "required" if name in required else "optional"
        told = f"- {name} ({schema['type']}, {need}): {schema['description']}"
        lines += _row("", told)
    return lines


def _section(title: str, values: Mapping[str, Any]) -> list[str]:
    lines = [title]
    for key, value in _flat(values):
        lines += _wrapped(f"{key}: {value}", first="  ", rest="      ")
    return [*lines, ""]


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        elif isinstance(value, list):
            yield f"{prefix}{key}", ", ".join(map(str, value))
        else:
            yield f"{prefix}{key}", "none" if value is None else str(value)


def _served(served: ServedModel) -> str:
    return f"{served.model} · {served.provider}"


def _row(label: str, text: str) -> list[str]:
    return _wrapped(text, first=f"  {label:<{LABEL_COLUMNS}}", rest=" " * (LABEL_COLUMNS + 2))


def _prompt_lines(prompt: str) -> list[str]:
    """Indent a prompt; lines that break a sentence are joined and broken anew."""
    blocks: list[str] = []
    for line in prompt.splitlines():
        if blocks and _breaks_sentence(blocks[-1], line):
            blocks[-1] += f" {line.strip()}"
        else:
            blocks.append(line.rstrip())
    lines: list[str] = []
    for block in blocks:
        mark = _LIST_MARK.match(block)
        rest = "    " + " " * len(mark.group() if mark else "")
        lines += _wrapped(block, first="    ", rest=rest)
    return lines


def _breaks_sentence(line: str, following: str) -> bool:
    is_open = line[-1:].isalnum() or line.endswith(",") or following.startswith(" ")
    return is_open and not line.startswith("#") and not _STARTS_BLOCK.match(following)


def _wrapped(text: str, *, first: str, rest: str) -> list[str]:
    """Break before what does not fit; a word that is longer than a line is cut."""
    lines, line = [], first
    for word in _pieces(" ".join(text.split()), COLUMNS - len(rest)):
        if _width(line) + _width(word) > COLUMNS:
            lines.append(line.rstrip())
            line = rest
        if word != " " or line.strip():
            line += word
    return [*lines, line.rstrip()]


def _pieces(text: str, longest: int) -> Iterator[str]:
    for word in _WORDS.findall(text):
        yield from (word[start : start + longest] for start in range(0, len(word), longest))


def _width(text: str) -> int:
    return sum(1 + (unicodedata.east_asian_width(char) in "WF") for char in text)
