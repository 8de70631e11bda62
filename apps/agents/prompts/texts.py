"""What the files of `config/` are made of: strict parts and texts in both languages."""

from __future__ import annotations

import unicodedata
from string import Template
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict

Language = Literal["zh", "en"]


def has_controls(text: str) -> bool:
    """Whether `text` has signs that no prompt may hold: controls, or halves of a character."""
    return any(unicodedata.category(char) in ("Cc", "Cs") for char in text if char not in "\n\t")


def _filled(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty")
    if has_controls(text):
        raise ValueError("holds a control character")
    return text


Text = Annotated[str, AfterValidator(_filled)]


class Strict(BaseModel):
    """A part of a configuration file; unknown keys are mistakes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Localized(Strict):
    """One text in both languages, with `$places`."""

    zh: Text
    en: Text

    def render(self, language: Language, /, **places: object) -> str:
        """Return the text of `language` with its places filled."""
        return Template(getattr(self, language)).substitute(places)
