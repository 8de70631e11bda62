"""What the agents are told, as the files of `config/` have it: read once, valid or refused."""

from apps.agents.prompts.files import BlueprintError
from apps.agents.prompts.forms import Blueprints, Stage, ToolBlueprint, Workflow
from apps.agents.prompts.prompt_config import (
    CONFIG_DIR,
    FLOW_ORDER,
    LANGUAGES,
    PLACES,
    STAGE_TOOLS,
    TEXT_PLACES,
    TOOL_PARAMETERS,
    blueprints,
    load_blueprints,
    prompt_file,
)
from apps.agents.prompts.texts import Language, Localized

__all__ = [
    "CONFIG_DIR",
    "FLOW_ORDER",
    "LANGUAGES",
    "PLACES",
    "STAGE_TOOLS",
    "TEXT_PLACES",
    "TOOL_PARAMETERS",
    "BlueprintError",
    "Blueprints",
    "Language",
    "Localized",
    "Stage",
    "ToolBlueprint",
    "Workflow",
    "blueprints",
    "load_blueprints",
    "prompt_file",
]
