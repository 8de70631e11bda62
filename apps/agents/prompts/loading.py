"""Loads and validates `config/`: all roles, tasks, prompts, tools and fixed texts of the agents.

What the flow cannot do is refused here: a missing file, key, language or placeholder, an unknown
one, another order of stages or another set of tools is a `PromptConfigError`, one line that names
file and key.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from pydantic import BaseModel

from apps.agents.prompts.files import Localized, PromptConfigError, read_text, read_yaml
from apps.agents.prompts.forms import (
    Agents,
    DirectReplyWords,
    PromptConfig,
    Tasks,
    Texts,
    Tools,
    Workflow,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from apps.agents.prompts.files import Language
    from apps.agents.prompts.forms import AgentForm, Stage, ToolForm
    from apps.llm.endpoints.retries import RetryPolicy

LANGUAGES: tuple[Language, ...] = ("zh", "en")
CONFIG_DIR = Path(__file__).parent / "config"

# What the code can do: the order of its stages, the tools it gives to each, their parameters.
FLOW_ORDER: tuple[Stage, ...] = ("intent", "execution", "organization")
STAGE_TOOLS: dict[Stage, frozenset[str]] = {
    "intent": frozenset(),
    "execution": frozenset({"search_knowledge_base"}),
    "organization": frozenset({"research"}),
}
TOOL_PARAMETERS: dict[str, frozenset[str]] = {
    "search_knowledge_base": frozenset({"query"}),
    "research": frozenset({"query"}),
}

# The places that the code fills, per text.
PLACES: dict[str, frozenset[str]] = {
    "system": frozenset({"profile", "role", "goal", "rules"}),
    "intent": frozenset({"task", "product"}),
    "execution": frozenset({"task", "max_searches"}),
    "organization": frozenset({"task", "marker", "partial_rule"}),
}


TEXT_PLACES: dict[str, frozenset[str]] = {
    "part_refusal": frozenset({"part"}),
    "execution_summary": frozenset({"searches", "passages"}),
    "report_brief": frozenset({"queries", "sources"}),
    "search_result": frozenset({"count", "passages"}),
    "evidence": frozenset({"summary", "passages", "labels"}),
    "research_summary": frozenset({"summary"}),
    "about_product": frozenset({"product"}),
    "research_done": frozenset({"marker"}),
    "fixed_replies.conversation": frozenset({"questions"}),
}


@lru_cache(maxsize=1)
def prompt_config() -> PromptConfig:
    """Return the prompts and rules of this installation, loaded once."""
    return load_prompt_config(CONFIG_DIR)


def endpoint_retries() -> RetryPolicy:
    """Return how often and when a request to an endpoint is sent again."""
    return prompt_config().workflow.endpoint_retries.policy


def load_prompt_config(folder: Path) -> PromptConfig:
    """Return the validated content of `folder`.

    Raises:
        PromptConfigError: one line that names the file and what is wrong with it.
    """
    loaded = PromptConfig(
        agents=read_yaml(folder, "agents.yaml", Agents, top_word="stage"),
        tasks=read_yaml(folder, "tasks.yaml", Tasks, top_word="stage"),
        tools=read_yaml(folder, "tools.yaml", Tools, top_word="tool"),
        workflow=read_yaml(folder, "workflow.yaml", Workflow),
        texts=read_yaml(folder, "texts.yaml", Texts, top_word="text"),
        direct_replies=read_yaml(folder, "direct_replies.yaml", DirectReplyWords),
        prompts={name: _read_prompt(folder, name) for name in PLACES},
    )
    _check_order(loaded.workflow)
    _check_agents(loaded.agents)
    _check_parameters(loaded.tools)
    for file in ("agents", "tasks", "tools", "texts", "direct_replies"):
        _check_texts(f"{file}.yaml", getattr(loaded, file))
    return loaded


def prompt_file(name: str, language: Language) -> str:
    """Return where the prompt of a stage, or the frame `system`, lies within the folder."""
    return f"prompts/{name}.{language}.md"


def _read_prompt(folder: Path, name: str) -> Localized:
    texts: dict[str, str] = {}
    for language in LANGUAGES:
        file = prompt_file(name, language)
        texts[language] = read_text(folder, file)
        _check_places(file, texts[language], PLACES[name])
    return Localized.model_validate(texts)


def _check_order(workflow: Workflow) -> None:
    if workflow.stages != FLOW_ORDER:
        order = ", ".join(FLOW_ORDER)
        raise PromptConfigError(f"workflow.yaml: stages: the flow knows this order only: {order}")


def _check_agents(agents: Agents) -> None:
    names: set[str] = set()
    for stage in FLOW_ORDER:
        agent: AgentForm = getattr(agents, stage)
        given, supported = frozenset(agent.tools), STAGE_TOOLS[stage]
        key = f"agents.yaml: {stage}"
        if unknown := sorted(given - TOOL_PARAMETERS.keys()):
            raise PromptConfigError(f"{key}.tools: unknown tool {unknown[0]}")
        if given != supported or len(agent.tools) != len(given):
            listed = ", ".join(sorted(supported))
            raise PromptConfigError(f"{key}.tools: the stage works with exactly [{listed}]")
        if agent.name in names:
            raise PromptConfigError(f"{key}.name: another stage has this name")
        names.add(agent.name)


def _check_parameters(tools: Tools) -> None:
    for name, expected in TOOL_PARAMETERS.items():
        tool: ToolForm = getattr(tools, name)
        _check_names(f"tools.yaml: {name}.parameters", set(tool.parameters), expected, "parameter")


def _check_texts(file: str, part: object) -> None:
    for key, text in _texts_of(part):
        has_places = file in ("texts.yaml", "direct_replies.yaml")
        places = TEXT_PLACES.get(key, frozenset()) if has_places else frozenset()
        for language in LANGUAGES:
            _check_places(f"{file}: {key}.{language}", getattr(text, language), places)


def _texts_of(part: object, key: str = "") -> Iterator[tuple[str, Localized]]:
    if isinstance(part, Localized):
        yield key, part
        return
    inner: dict[str, object] = {}
    if isinstance(part, BaseModel):
        inner = {name: getattr(part, name) for name in type(part).model_fields}
    elif isinstance(part, dict):
        inner = part
    for name, value in inner.items():
        yield from _texts_of(value, f"{key}.{name}" if key else name)


def _check_places(where: str, text: str, expected: frozenset[str]) -> None:
    template = Template(text)
    if not template.is_valid():
        raise PromptConfigError(
            f"{where}: a $ without a placeholder; write $$ for the sign itself"
        )
    _check_names(where, set(template.get_identifiers()), expected, "placeholder")


def _check_names(where: str, found: set[str], expected: frozenset[str], word: str) -> None:
    if unknown := sorted(found - expected):
        raise PromptConfigError(f"{where}: unknown {word} {unknown[0]}")
    if missing := sorted(expected - found):
        raise PromptConfigError(f"{where}: the {word} {missing[0]} is missing")
