"""Reads files of `config/`; a mistake is one line that names file, key and reason.

They are made of strict parts and texts in both languages. Knows nothing of what they mean.
"""

from __future__ import annotations

import unicodedata
from string import Template
from typing import TYPE_CHECKING, Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic_core import ErrorDetails

LONGEST_MESSAGE = 500  # a key of the file is in it

_REASONS = {
    "extra_forbidden": "unknown key",
    "missing": "is missing",
    "string_type": "must be text",
    "model_type": "must be a mapping",
    "dict_type": "must be a mapping",
    "tuple_type": "must be a list",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
}


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


class PromptConfigError(Exception):
    """A file of `config/` is missing or wrong; the message is one line for an operator."""

    def __init__(self, message: str) -> None:
        printable = (char if char.isprintable() else " " for char in message)
        super().__init__("".join(printable)[:LONGEST_MESSAGE])


class _Loader(yaml.SafeLoader):
    """Refuses a key that is written twice, of which YAML would keep the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - overrides
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                problem = f"the key {key.value} stands there twice"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
            seen.add(str(key.value))
        return super().construct_mapping(node, deep=deep)


def read_text(folder: Path, file: str) -> str:
    """Return the text of a file.

    Raises:
        PromptConfigError: it is missing, unreadable, no UTF-8 text or empty.
    """
    try:
        text = (folder / file).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise PromptConfigError(f"{file}: is missing") from None
    except OSError:
        raise PromptConfigError(f"{file}: cannot be read") from None
    except UnicodeDecodeError:
        raise PromptConfigError(f"{file}: is not UTF-8 text") from None
    if not text.strip():
        raise PromptConfigError(f"{file}: is empty")
    if has_controls(text):
        raise PromptConfigError(f"{file}: holds a control character")
    return text


def read_yaml[M: BaseModel](folder: Path, file: str, form: type[M], *, top_word: str = "key") -> M:
    """Return the content of a YAML file in its form; `top_word` says what its outer keys are.

    Raises:
        PromptConfigError: as `read_text`, or it is no YAML, or breaks the form.
    """
    try:
        data = yaml.load(read_text(folder, file), Loader=_Loader)  # noqa: S506 - a safe loader
    except yaml.MarkedYAMLError as error:
        line = f" (line {error.problem_mark.line + 1})" if error.problem_mark else ""
        reason = f": {error.problem}{line}" if error.problem else line
        raise PromptConfigError(f"{file}: is not valid YAML{reason}") from None
    except (yaml.YAMLError, ValueError, AttributeError, RecursionError):
        # The 30th of February, no date at all, thousands of brackets.
        raise PromptConfigError(f"{file}: is not valid YAML") from None
    try:
        return form.model_validate(data)
    except ValidationError as error:
        raise PromptConfigError(f"{file}: {_sentence(error, top_word)}") from None


def _sentence(error: ValidationError, top_word: str) -> str:
    """Tell the first mistake; unknown keys go first, since what is missing is often misspelt."""
    mistakes = error.errors(include_input=False)
    first: ErrorDetails = min(mistakes, key=lambda item: item["type"] != "extra_forbidden")
    key = ".".join(map(str, first["loc"]))
    reason = _REASONS.get(first["type"], first["msg"].removeprefix("Value error, "))
    if first["type"] == "extra_forbidden" and len(first["loc"]) == 1:
        reason = f"unknown {top_word}"
    return f"{key}: {reason}" if key else reason
