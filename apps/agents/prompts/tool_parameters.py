"""Turns a tool's blueprint into the schema that models see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field, create_model

if TYPE_CHECKING:
    from apps.agents.prompts import Language, ToolBlueprint


def parameters_model(name: str, blueprint: ToolBlueprint, language: Language) -> type[BaseModel]:
    """Return a model with one required string per parameter of the blueprint."""
    fields: dict[str, Any] = {
        parameter: (str, Field(description=schema.description.render(language)))
        for parameter, schema in blueprint.parameters.items()
    }
    return create_model(name, **fields)
