"""The title a passage stands under, and whether a text speaks of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.core.text.words import folded

if TYPE_CHECKING:
    from apps.core.passages import Passage

HEADING_SEPARATOR = " > "  # of `Passage.heading_path`


def heading_of(passage: Passage) -> str:
    """Return the innermost heading over a passage, "" when there is none."""
    return passage.heading_path.rpartition(HEADING_SEPARATOR)[2]


def title_of(passage: Passage) -> str:
    """Return the innermost heading over a passage, or its file's name without the ending."""
    return heading_of(passage) or passage.filename.rpartition(".")[0]


def last_mention(passage: Passage, text: str) -> int:
    """Return where the last mention of the passage's title in `text` ends, 0 for none."""
    title = folded(title_of(passage)).strip()
    found = folded(text).rfind(title) if len(title) > 1 else -1
    return 0 if found < 0 else found + len(title)
