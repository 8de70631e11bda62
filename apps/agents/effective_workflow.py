"""The workflow in force, as text of 80 columns or as JSON: the configuration as it was loaded,
with the models, limits and time-outs of this installation.

Tells no secret, and of an address its host only.
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import TYPE_CHECKING, Any

from django.conf import settings

from apps.agents.prompts import PLACES, prompt_config, prompt_file
from apps.llm.factory import (
    chat_is_embedded,
    chat_model_name,
    chat_provider,
    embedding_model_name,
    embedding_provider,
    evidence_threshold,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from apps.agents.prompts import Language, Localized, Stage, ToolForm

COLUMNS = 80
_WORDS = re.compile(r"[\u2e80-\uffef][、。，；：！？）」』”]*|[^\s\u2e80-\uffef]+|\s+")
_LIMITS = {
    "searches": "max_research_searches",
    "top_k": "retrieval_top_k",
    "sources": "max_sources",
    "history_messages": "history_message_limit",
    "question_chars": "max_question_chars",
}
_TIMEOUTS = ("connect", "first_token", "idle", "run", "embedding")


def workflow_json(language: Language) -> str:
    """Return everything as JSON, with the texts in `language`.

    Raises:
        PromptConfigError: the templates are wrong.
        AppError: the embedded models do not run on this machine.
    """
    return json.dumps(_workflow(language), ensure_ascii=False, indent=2)


def workflow_text(language: Language, *, with_prompts: bool) -> str:
    """Return it for a terminal, with the system prompts or without; raises as `workflow_json`."""
    workflow = _workflow(language)
    lines: list[str] = []
    for number, stage in enumerate(workflow.pop("stages"), 1):
        prompt: str = stage.pop("system_prompt")
        lines += [f"{number}. {stage.pop('stage')}", *_rows(stage)]
        for line in ["", *prompt.splitlines()] if with_prompts else ():
            lines += _wrapped(line, "    ")
        lines.append("")
    for title, values in workflow.items():
        is_part = isinstance(values, dict)
        lines += [title, *_rows(values), ""] if is_part else _wrapped(f"{title}: {values}")
    return "\n".join(lines)


def _workflow(language: Language) -> dict[str, Any]:
    """`rules` is workflow.yaml without its stages."""
    env, workflow = settings.ENV, prompt_config().workflow
    limits = {name: getattr(env, setting) for name, setting in _LIMITS.items()}
    return {
        "language": language,
        "stages": [_stage(stage, language) for stage in workflow.stages],
        "embedding": {"model": embedding_model_name(), "provider": embedding_provider()},
        "early_ends": _early_ends(),
        "rules": workflow.model_dump(mode="json", exclude={"stages"}),
        "limits": limits | {"evidence_threshold": evidence_threshold()},
        "timeouts_s": {name: getattr(env, f"{name}_timeout_s") for name in _TIMEOUTS},
        "is_traced": env.is_traced,
    }


def _stage(stage: Stage, language: Language) -> dict[str, Any]:
    """`system_prompt` has the places that each run fills as $name."""
    loaded = prompt_config()
    agent = loaded.agent(stage)
    task: Localized = getattr(loaded.tasks, stage).description
    places = {place: f"${place}" for place in PLACES[stage] if place != "task"}
    return {
        "stage": stage,
        "agent": agent.name,
        "tag": agent.tag,
        "served_by": {"model": chat_model_name(stage), "provider": chat_provider(stage)},
        "role": agent.role.render(language),
        "goal": agent.goal.render(language),
        "task": task.render(language),
        "tools": [_tool(name, language) for name in agent.tools],
        "prompt_files": [prompt_file("system", language), prompt_file(stage, language)],
        "system_prompt": loaded.system_prompt(stage, language, profile="$profile", **places),
    }


def _tool(name: str, language: Language) -> dict[str, Any]:
    form: ToolForm = getattr(prompt_config().tools, name)
    schema = form.parameters_model(name, language).model_json_schema()
    description = form.description.render(language)
    return {"name": name, "description": description, "parameters": schema}


def _early_ends() -> dict[str, str]:
    workflow = prompt_config().workflow
    refusal, marker = "the refusal of texts.yaml", workflow.insufficient_marker
    ends = {
        f"{workflow.short_circuit.stage}: {workflow.short_circuit.route}": "its reply is final",
        "execution: evidence below the threshold": refusal,
        f"organization: {marker}": refusal,
    }
    if not chat_is_embedded("execution"):
        ends["execution: early_search suffices"] = f"no model searches, but after {marker}"
    return ends


def _rows(values: dict[str, Any]) -> Iterator[str]:
    for key, text in _flat(values):
        yield from _wrapped(f"{key}: {text}", "  ")


def _flat(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _flat(inner, f"{key}.{name}" if key else name)
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for item in value:
            yield from _flat(item, key)
    else:
        yield key, ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _wrapped(text: str, indent: str = "", rest: str = "      ") -> list[str]:
    """Break before what does not fit; a word that is longer than a line is cut."""
    longest = (COLUMNS - len(rest)) // 2
    lines, line = [], indent
    for word in _WORDS.findall(" ".join(text.split())):
        for piece in (word[start : start + longest] for start in range(0, len(word), longest)):
            if _width(line) + _width(piece) > COLUMNS:
                lines.append(line.rstrip())
                line = rest
            if piece != " " or line.strip():
                line += piece
    return [*lines, line.rstrip()]


def _width(text: str) -> int:
    return sum(1 + (unicodedata.east_asian_width(char) in "WF") for char in text)
