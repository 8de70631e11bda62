"""What the files of `config/` are made of: strict parts and texts in both languages."""

from __future__ import annotations

from string import Template
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict

Language = Literal["zh", "en"]


def _filled(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty")
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
