"""The models in use and who serves them, for the pages' footer; loads no model."""

from __future__ import annotations

from dataclasses import dataclass

from django import template

from apps.llm import factory
from apps.llm.calls import EMBEDDED_VENDOR

register = template.Library()

EMBEDDED_MARK = " (embedded)"  # of the stored name; pages say it in the reader's language


@dataclass(frozen=True, slots=True)
class ActiveModel:
    """A model's name, and the vendor or host that serves it: None when it is embedded."""

    name: str
    provider: str | None


@register.simple_tag
def active_models() -> dict[str, ActiveModel]:
    """Return the `chat` model, which writes the answers, and the `embedding` model."""
    return {
        "chat": _active(
            factory.chat_model_name("organization"), factory.chat_provider("organization")
        ),
        "embedding": _active(factory.embedding_model_name(), factory.embedding_provider()),
    }


def _active(name: str, provider: str) -> ActiveModel:
    if provider == EMBEDDED_VENDOR:
        return ActiveModel(name.removesuffix(EMBEDDED_MARK), None)
    return ActiveModel(name, provider)
