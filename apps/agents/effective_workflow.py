"""The workflow as it is in force: templates, models, limits and policies of this installation.

Plain values for a person or a program to read; no secret and no address but its host.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.conf import settings

from apps.agents.prompts import PLACES, blueprints, prompt_file
from apps.llm.factory import (
    chat_is_embedded,
    chat_model_name,
    chat_provider,
    embedding_model_name,
    embedding_provider,
    evidence_threshold,
)

if TYPE_CHECKING:
    from apps.agents.prompts import Language, Localized, Stage, ToolBlueprint, Workflow

TASK_PLACE = "task"  # filled from tasks.yaml, all other places at each run


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model and who serves it."""

    model: str
    provider: str


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool as a model sees it; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class EffectiveStage:
    """One stage; `system_prompt` has the places that each run fills, as $name."""

    stage: Stage
    agent: str
    tag: str
    served_by: ServedModel
    role: str
    goal: str
    task: str
    tools: tuple[OfferedTool, ...]
    prompt_files: tuple[str, ...]
    system_prompt: str


@dataclass(frozen=True, slots=True)
class EarlyEnd:
    """Where the flow takes a short cut: in which stage, when, and what comes instead."""

    stage: Stage
    when: str
    then: str


@dataclass(frozen=True, slots=True)
class EffectiveWorkflow:
    """Everything; `rules` is workflow.yaml without its stages, times are in seconds."""

    language: Language
    stages: tuple[EffectiveStage, ...]
    embedding: ServedModel
    early_ends: tuple[EarlyEnd, ...]
    rules: dict[str, Any]
    limits: dict[str, float | None]
    timeouts_s: dict[str, float]
    is_traced: bool


def effective_workflow(language: Language) -> EffectiveWorkflow:
    """Return the workflow with its texts in `language`.

    Raises:
        BlueprintError: the templates are wrong.
        AppError: the embedded models do not run on this machine.
    """
    workflow = blueprints().workflow
    return EffectiveWorkflow(
        language=language,
        stages=tuple(_stage(stage, language) for stage in workflow.stages),
        embedding=ServedModel(embedding_model_name(), embedding_provider()),
        early_ends=_early_ends(workflow),
        rules=workflow.model_dump(mode="json", exclude={"stages"}),
        limits=_limits(),
        timeouts_s=_timeouts(),
        is_traced=settings.ENV.is_traced,
    )


def _stage(stage: Stage, language: Language) -> EffectiveStage:
    loaded = blueprints()
    agent = loaded.agent(stage)
    task: Localized = getattr(loaded.tasks, stage).description
    places = {place: f"${place}" for place in PLACES[stage] if place != TASK_PLACE}
    return EffectiveStage(
        stage=stage,
        agent=agent.name,
        tag=agent.tag,
        served_by=ServedModel(chat_model_name(stage), chat_provider(stage)),
        role=agent.role.render(language),
        goal=agent.goal.render(language),
        task=task.render(language),
        tools=tuple(_tool(name, language) for name in agent.tools),
        prompt_files=(prompt_file("system", language), prompt_file(stage, language)),
        system_prompt=loaded.system_prompt(stage, language, profile="$profile", **places),
    )


def _tool(name: str, language: Language) -> OfferedTool:
    blueprint: ToolBlueprint = getattr(blueprints().tools, name)
    schema = blueprint.parameters_model(name, language).model_json_schema()
    return OfferedTool(name, blueprint.description.render(language), schema)


def _early_ends(workflow: Workflow) -> tuple[EarlyEnd, ...]:
    direct, marker = workflow.short_circuit, workflow.insufficient_marker
    weak = EarlyEnd(
        "execution", "the evidence is below the threshold", "the refusal of texts.yaml"
    )
    ends = [
        EarlyEnd(direct.stage, f"the route is {direct.route}", "its reply is the answer"),
        weak,
    ]
    told = "the refusal of texts.yaml"
    if not chat_is_embedded("execution"):
        found = "the first search suffices (early_search)"
        ends.insert(1, EarlyEnd("execution", found, "no model is called"))
        told = f"the research agent searches on if it was spared, else {told}"
    return (*ends, EarlyEnd("organization", f"the model writes {marker}", told))


def _limits() -> dict[str, float | None]:
    env = settings.ENV
    return {
        "searches": env.max_research_searches,
        "top_k": env.retrieval_top_k,
        "sources": env.max_sources,
        "evidence_threshold": evidence_threshold(),
        "history_messages": env.history_message_limit,
        "question_chars": env.max_question_chars,
    }


def _timeouts() -> dict[str, float]:
    env = settings.ENV
    return {
        "connect": env.connect_timeout_s,
        "first_token": env.first_token_timeout_s,
        "idle": env.idle_timeout_s,
        "run": env.run_timeout_s,
        "embedding": env.embedding_timeout_s,
    }
