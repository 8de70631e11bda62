"""The system check of the templates in `config/`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.checks import Error
from django.core.checks import register as register_check

from apps.agents import prompts
from apps.core.processes.configuration import CONFIGURATION

if TYPE_CHECKING:
    from pathlib import Path

CODE = "agents.E001"


def register() -> None:
    """Make `manage.py check` and every start of the server look at the templates."""
    register_check(check_templates, CONFIGURATION)


def check_templates(**_options: Any) -> list[Error]:
    """Return the first mistake in the templates, if there is one."""
    return template_mistakes(prompts.CONFIG_DIR)


def template_mistakes(folder: Path) -> list[Error]:
    """Return the first mistake in `folder`: its file, key and reason."""
    try:
        prompts.load_prompt_config(folder)
    except prompts.PromptConfigError as error:
        shown = "/".join(folder.parts[-3:])
        return [Error(f"{shown}/{error}", id=CODE)]
    return []
