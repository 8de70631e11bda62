"""Loads and validates `config/`: all roles, tasks, prompts, tools and fixed texts of the agents.

A missing file, key, language or placeholder is a `BlueprintError`: one line that names the file.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Literal

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

if TYPE_CHECKING:
    from collections.abc import Mapping

Language = Literal["zh", "en"]
Stage = Literal["intent", "execution", "organization"]
LANGUAGES: tuple[Language, ...] = ("zh", "en")
CONFIG_DIR = Path(__file__).parent / "config"

# The places that the code fills, per text.
PLACES: dict[str, frozenset[str]] = {
    "system": frozenset({"profile", "role", "goal"}),
    "intent": frozenset({"task"}),
    "execution": frozenset({"task", "max_searches"}),
    "organization": frozenset({"task", "marker"}),
}


TEXT_PLACES: dict[str, frozenset[str]] = {
    "execution_summary": frozenset({"searches", "passages"}),
    "search_result": frozenset({"count", "passages"}),
    "evidence": frozenset({"summary", "passages", "labels"}),
    "research_done": frozenset({"marker"}),
}


class BlueprintError(Exception):
    """A file of `config/` is missing or wrong; the message is one line for an operator."""


class Strict(BaseModel):
    """A part of a configuration file; unknown keys are mistakes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Localized(Strict):
    """One text in both languages, with `$places`."""

    zh: str
    en: str

    def render(self, language: Language, /, **places: object) -> str:
        """Return the text of `language` with its places filled."""
        return Template(getattr(self, language)).substitute(places)


class AgentBlueprint(Strict):
    """Who an agent is and which tools it may use."""

    name: str
    tag: str
    role: Localized
    goal: Localized
    tools: tuple[str, ...]


class TaskBlueprint(Strict):
    """What a stage is asked to do."""

    description: Localized


class ToolBlueprint(Strict):
    """How a tool presents itself to a model; all parameters are strings."""

    description: Localized
    parameters: dict[str, Localized]


class ShortCircuit(Strict):
    """Where the flow may end early."""

    stage: Stage
    route: Literal["DIRECT_EXECUTION"]


class Workflow(Strict):
    """Order and limits of the flow."""

    stages: tuple[Stage, ...]
    short_circuit: ShortCircuit
    direct_max_chars: int
    intent_repairs: int
    malformed_call_retries: int
    research_reminders: int
    insufficient_marker: str


class Texts(Strict):
    """Fixed texts for people and models."""

    refusal: Localized
    execution_summary: Localized
    search_result: Localized
    search_nothing: Localized
    evidence: Localized
    research_done: Localized
    call_malformed: Localized
    intent_invalid: Localized


class Agents(Strict):
    """The agents by stage."""

    intent: AgentBlueprint
    execution: AgentBlueprint
    organization: AgentBlueprint


class Tasks(Strict):
    """The tasks by stage."""

    intent: TaskBlueprint
    execution: TaskBlueprint
    organization: TaskBlueprint


class Tools(Strict):
    """The tools by name."""

    search_knowledge_base: ToolBlueprint
    research: ToolBlueprint


class Blueprints(Strict):
    """Everything in `config/`, valid."""

    agents: Agents
    tasks: Tasks
    tools: Tools
    workflow: Workflow
    texts: Texts
    prompts: dict[str, Localized]

    def agent(self, stage: Stage) -> AgentBlueprint:
        """Return the agent of a stage."""
        blueprint: AgentBlueprint = getattr(self.agents, stage)
        return blueprint

    def system_prompt(
        self, stage: Stage, language: Language, *, profile: str, **places: object
    ) -> str:
        """Return the system prompt of a stage; `places` fills those of its task prompt."""
        agent = self.agent(stage)
        task: Localized = getattr(self.tasks, stage).description
        frame = self.prompts["system"].render(
            language,
            profile=profile,
            role=agent.role.render(language),
            goal=agent.goal.render(language),
        )
        body = self.prompts[stage].render(language, task=task.render(language), **places)
        return f"{frame}\n{body}"


@lru_cache(maxsize=1)
def blueprints() -> Blueprints:
    """Return the blueprints of this installation, loaded once."""
    return load_blueprints(CONFIG_DIR)


def load_blueprints(folder: Path) -> Blueprints:
    """Return the validated content of `folder`.

    Raises:
        BlueprintError: one line that names the file and what is wrong with it.
    """
    parts = {name: _read_yaml(folder / f"{name}.yaml") for name in _YAML_FILES}
    prompts = {name: _read_prompt(folder / "prompts", name) for name in PLACES}
    loaded = Blueprints(
        **{name: _validated(model, parts[name], name) for name, model in _YAML_FILES.items()},
        prompts=prompts,
    )
    _check_tools(loaded)
    _check_texts(loaded.texts)
    return loaded


_YAML_FILES: dict[str, type[Strict]] = {
    "agents": Agents,
    "tasks": Tasks,
    "tools": Tools,
    "workflow": Workflow,
    "texts": Texts,
}


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        raise BlueprintError(f"{path.name}: cannot be read") from None


def _read_yaml(path: Path) -> object:
    try:
        return yaml.safe_load(_read(path))
    except yaml.YAMLError:
        raise BlueprintError(f"{path.name}: is not valid YAML") from None


def _read_prompt(folder: Path, name: str) -> Localized:
    texts = {language: _read(folder / f"{name}.{language}.md") for language in LANGUAGES}
    for language, text in texts.items():
        _check_places(f"{name}.{language}.md", text, PLACES[name])
    return Localized.model_validate(texts)


def _check_places(file: str, text: str, expected: frozenset[str]) -> None:
    template = Template(text)
    found = set(template.get_identifiers())
    if not template.is_valid() or found != expected:
        wrong = ", ".join(sorted(found ^ expected)) or "$"
        raise BlueprintError(f"{file}: unknown or missing placeholder: {wrong}")


def _validated(model: type[Strict], data: object, name: str) -> Strict:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first: Mapping[str, object] = dict(error.errors(include_input=False)[0])
        location = first.get("loc")
        key = ".".join(map(str, location)) if isinstance(location, tuple) else ""
        raise BlueprintError(f"{name}.yaml: {key}: {first['msg']}") from None


def _check_texts(texts: Texts) -> None:
    for name in Texts.model_fields:
        text: Localized = getattr(texts, name)
        for language in LANGUAGES:
            places = TEXT_PLACES.get(name, frozenset())
            _check_places(f"texts.yaml: {name}.{language}", getattr(text, language), places)


def _check_tools(loaded: Blueprints) -> None:
    known = set(Tools.model_fields)
    for stage in loaded.workflow.stages:
        unknown = set(loaded.agent(stage).tools) - known
        if unknown:
            raise BlueprintError(f"agents.yaml: {stage}.tools: unknown tool {sorted(unknown)[0]}")
