"""Reads the YAML files of `catalogue/`; a mistake becomes one line that names the file and key.

Nothing is repaired: a catalogue with a mistake is refused as a whole, with all of its mistakes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

CATALOGUE_DIR = Path(__file__).parent / "catalogue"


class CatalogueError(Exception):
    """A file of the catalogue is missing or wrong; `lines` has one sentence per mistake."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines


class CatalogueModel(BaseModel):
    """A part of a catalogue file; unknown keys are mistakes."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


def read_catalogue[M: BaseModel](path: Path, form: type[M]) -> M:
    """Return the validated content of a file.

    Raises:
        CatalogueError: with one line per mistake.
    """
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CatalogueError([f"{path.name}: is missing"]) from None
    except OSError:
        raise CatalogueError([f"{path.name}: cannot be read"]) from None
    except (yaml.YAMLError, ValueError):  # ValueError: no UTF-8, the 30th of February
        raise CatalogueError([f"{path.name}: is not valid YAML"]) from None
    try:
        return form.model_validate(data)
    except ValidationError as error:
        lines = [f"{path.name}: {line}" for item in error.errors() for line in _sentences(item)]
        raise CatalogueError(lines) from None


def _sentences(item: ErrorDetails) -> list[str]:
    key = ".".join(map(str, item["loc"]))
    messages = item["msg"].removeprefix("Value error, ").splitlines()
    return [f"{key}: {message}" if key else message for message in messages]
