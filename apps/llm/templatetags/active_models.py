"""The names of the models in use, for the pages' footer; loads no model."""

from __future__ import annotations

from django import template

from apps.llm import factory

register = template.Library()


@register.simple_tag
def active_models() -> dict[str, str]:
    """Return the names of the `chat` and the `embedding` model."""
    return {
        "chat": factory.chat_model_name("organization"),
        "embedding": factory.embedding_model_name(),
    }
