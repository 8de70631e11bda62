"""Loads and validates `config/`: all roles, tasks, prompts, tools and fixed texts of the agents.

What the flow cannot do is refused here: a missing file, key, language or placeholder, an unknown
one, another order of stages or another set of tools is a `BlueprintError`, one line that names
file and key.
"""

from __future__ import annotations

import re  # noqa: TC003 - pydantic reads the field type
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field

from apps.agents.config_files import BlueprintError, read_text, read_yaml
from apps.agents.config_forms import Language, Localized, Strict, Text
from apps.agents.direct_reply_words import DirectReplyWords
from apps.llm.retries import RetryPolicy

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "BlueprintError",
    "Blueprints",
    "Language",
    "Localized",
    "blueprints",
    "load_blueprints",
]

Stage = Literal["intent", "execution", "organization"]
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
    "system": frozenset({"profile", "role", "goal"}),
    "intent": frozenset({"task", "product"}),
    "execution": frozenset({"task", "max_searches"}),
    "organization": frozenset({"task", "marker", "partial_rule"}),
}


TEXT_PLACES: dict[str, frozenset[str]] = {
    "execution_summary": frozenset({"searches", "passages"}),
    "report_brief": frozenset({"queries", "sources"}),
    "search_result": frozenset({"count", "passages"}),
    "evidence": frozenset({"summary", "passages", "labels"}),
    "research_done": frozenset({"marker"}),
    "fixed_replies.conversation": frozenset({"questions"}),
}


Count = Annotated[int, Field(strict=True, ge=0, le=10)]
Seconds = Annotated[float, Field(gt=0, le=3600)]
Share = Annotated[float, Field(ge=0, le=1)]
Chars = Annotated[int, Field(strict=True, ge=1, le=100_000)]


class AgentBlueprint(Strict):
    """Who an agent is and which tools it may use."""

    name: Text
    tag: Text
    role: Localized
    goal: Localized
    tools: tuple[str, ...]


class TaskBlueprint(Strict):
    """What a stage is asked to do."""

    description: Localized


class ToolParameter(Strict):
    """One parameter of a tool; the tools that there are take texts."""

    type: Literal["string"]
    description: Localized


class ToolBlueprint(Strict):
    """How a tool presents itself to a model; all parameters are required."""

    description: Localized
    parameters: dict[str, ToolParameter]


class ShortCircuit(Strict):
    """Where the flow may end early."""

    stage: Literal["intent"]
    route: Literal["DIRECT_EXECUTION"]


def _falling(shares: tuple[float, ...]) -> tuple[float, ...]:
    if any(later >= earlier for earlier, later in pairwise(shares)):
        raise ValueError("the shares must fall from request to request")
    return shares


KeptShare = Annotated[float, Field(strict=True, ge=0, lt=1)]
Shares = Annotated[tuple[KeptShare, ...], Field(max_length=4), AfterValidator(_falling)]


class ContextTrim(Strict):
    """What is left of a prompt that a model refuses as too long: one share per further request."""

    history_kept: Shares
    sources_kept: Shares


class LocalizedPattern(Strict):
    """A regular expression for questions in each language."""

    zh: re.Pattern[str]
    en: re.Pattern[str]


class LocalizedShare(Strict):
    """A share from 0 to 1 for questions in each language."""

    zh: Share
    en: Share


class SimpleQuestion(Strict):
    """Which questions one search may answer."""

    most_terms: Annotated[int, Field(strict=True, ge=1, le=1000)]
    compound_words: LocalizedPattern


class SufficientEvidence(Strict):
    """When the best `passages` of a search are evidence enough."""

    passages: Annotated[int, Field(strict=True, ge=1, le=10)]
    least_coverage: LocalizedShare


class EarlySearchPolicy(Strict):
    """What the first search brings in, and when it ends the research."""

    remembered_passages: Count
    simple_question: SimpleQuestion
    sufficient_evidence: SufficientEvidence


class StageSeconds(Strict):
    """A time for each stage."""

    intent: Seconds
    execution: Seconds
    organization: Seconds


class EndpointRetries(Strict):
    """How often and when a request to an endpoint is sent again."""

    further_tries: Count
    first_delay_s: Seconds
    longest_delay_s: Seconds

    @property
    def policy(self) -> RetryPolicy:
        """The same as the models take it."""
        return RetryPolicy(self.further_tries, self.first_delay_s, self.longest_delay_s)


class Workflow(Strict):
    """Order and limits of the flow."""

    stages: tuple[Stage, ...]
    short_circuit: ShortCircuit
    direct_max_chars: Chars
    intent_repairs: Count
    malformed_call_retries: Count
    research_reminders: Count
    context_trim: ContextTrim
    insufficient_marker: Annotated[str, Field(pattern=r"^[A-Z]+(_[A-Z]+)+$")]
    early_search: EarlySearchPolicy
    stage_timeout_s: StageSeconds
    endpoint_retries: EndpointRetries
    research_model_calls: Annotated[int, Field(strict=True, ge=1, le=10)]


class Texts(Strict):
    """Fixed texts for people and models."""

    refusal: Localized
    execution_summary: Localized
    report_brief: Localized
    partial_rule: Localized
    partial_rule_open: Localized
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
    direct_replies: DirectReplyWords
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
    loaded = Blueprints(
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
        raise BlueprintError(f"workflow.yaml: stages: the flow knows this order only: {order}")


def _check_agents(agents: Agents) -> None:
    names: set[str] = set()
    for stage in FLOW_ORDER:
        agent: AgentBlueprint = getattr(agents, stage)
        given, supported = frozenset(agent.tools), STAGE_TOOLS[stage]
        key = f"agents.yaml: {stage}"
        if unknown := sorted(given - TOOL_PARAMETERS.keys()):
            raise BlueprintError(f"{key}.tools: unknown tool {unknown[0]}")
        if given != supported or len(agent.tools) != len(given):
            listed = ", ".join(sorted(supported))
            raise BlueprintError(f"{key}.tools: the stage works with exactly [{listed}]")
        if agent.name in names:
            raise BlueprintError(f"{key}.name: another stage has this name")
        names.add(agent.name)


def _check_parameters(tools: Tools) -> None:
    for name, expected in TOOL_PARAMETERS.items():
        tool: ToolBlueprint = getattr(tools, name)
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
        raise BlueprintError(f"{where}: a $ without a placeholder; write $$ for the sign itself")
    _check_names(where, set(template.get_identifiers()), expected, "placeholder")


def _check_names(where: str, found: set[str], expected: frozenset[str], word: str) -> None:
    if unknown := sorted(found - expected):
        raise BlueprintError(f"{where}: unknown {word} {unknown[0]}")
    if missing := sorted(expected - found):
        raise BlueprintError(f"{where}: the {word} {missing[0]} is missing")
