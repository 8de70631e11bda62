"""What the agents are told, as the files of `config/` have it: read once, valid or refused."""

from apps.agents.prompts.files import Language, Localized, PromptConfigError
from apps.agents.prompts.forms import PromptConfig, Stage, ToolForm, Workflow
from apps.agents.prompts.loading import (
    CONFIG_DIR,
    FLOW_ORDER,
    LANGUAGES,
    PLACES,
    STAGE_TOOLS,
    TEXT_PLACES,
    TOOL_PARAMETERS,
    endpoint_retries,
    load_prompt_config,
    prompt_config,
    prompt_file,
)

__all__ = [
    "CONFIG_DIR",
    "FLOW_ORDER",
    "LANGUAGES",
    "PLACES",
    "STAGE_TOOLS",
    "TEXT_PLACES",
    "TOOL_PARAMETERS",
    "Language",
    "Localized",
    "PromptConfig",
    "PromptConfigError",
    "Stage",
    "ToolForm",
    "Workflow",
    "endpoint_retries",
    "load_prompt_config",
    "prompt_config",
    "prompt_file",
]
