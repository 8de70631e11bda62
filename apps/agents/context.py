"""Who asks and what one run carries: plain values about the person, their words and limits."""

from __future__ import annotations

import json
import re
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from apps.core.text.cleaning import clean_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from apps.agents.events import RunEvent, Stage, Turn
    from apps.core.passages import Search, SearchPort
    from apps.llm.calls import CallLog

LONGEST_FIELD = 512  # characters of each profile field in a prompt (002)
CHINESE = frozenset({"zh", "cmn", "yue"})  # languages of tags whose people read Chinese prompts
# As Django's json_script: no tag of a prompt and no role token can begin in the profile.
_MARKUP = {ord(character): f"\\u{ord(character):04x}" for character in "<>&"}
_HAN = re.compile(r"[\u3400-\u9fff]")
_LATIN = re.compile(r"[A-Za-z]")


@dataclass(frozen=True, slots=True)
class UserAgentContext:
    """The asker (002): `ai_language` is the BCP-47 tag of the prompts, `time_zone` is IANA's."""

    user_id: UUID
    username: str
    ai_language: str = "zh-CN"
    bio: str | None = None
    interface_language: str = "zh-CN"
    time_zone: str = "Asia/Shanghai"
    country: str = "CN"

    @property
    def language(self) -> Literal["zh", "en"]:
        """The language of the prompts: Chinese or, for every other tag, English."""
        return "zh" if self.ai_language.lower().partition("-")[0] in CHINESE else "en"

    def language_for(self, message: str) -> Literal["zh", "en"]:
        """Return the language of `message`, or of the person if that is unclear."""
        if _HAN.search(message):
            return "zh"
        return "en" if _LATIN.search(message) else self.language

    @property
    def profile_json(self) -> str:
        """The profile as one line of escaped ASCII JSON: data that cannot end its block.

        Control characters and lone surrogates are left out, `<`, `>` and `&` are escaped too.
        """
        profile = {
            "username": _cut(self.username),
            "bio": _cut(self.bio),
            "interface_language": _cut(self.interface_language),
            "ai_language": _cut(self.ai_language),
            "timezone": _cut(self.time_zone),
            "country": _cut(self.country),
        }
        escaped = json.dumps(profile, ensure_ascii=True, separators=(",", ":"))
        return escaped.translate(_MARKUP)


def _cut(text: str | None) -> str:
    return clean_text(text or "").strip()[:LONGEST_FIELD]


@dataclass(frozen=True, slots=True)
class RunLimits:
    """How much a run may search; `evidence_threshold` None means that any hit is evidence."""

    top_k: int
    max_searches: int
    max_sources: int
    evidence_threshold: float | None


@dataclass(frozen=True, slots=True)
class RunContext:
    """The asker's words, the search port, the limits and the ways to report events and calls."""

    question: str
    history: tuple[Turn, ...]
    user: UserAgentContext
    search: SearchPort
    limits: RunLimits
    emit: Callable[[RunEvent], None]
    calls: CallLog | None = None
    is_research_open: bool = False  # more can be searched when the evidence is not enough
    searches: list[Search] = field(default_factory=list)  # of the research, in order
    trim_levels: dict[Stage, int] = field(default_factory=dict)  # see `trimming`
    at_end: AsyncExitStack = field(default_factory=AsyncExitStack)  # what must not outlive the run

    @property
    def said(self) -> list[tuple[bool, str]]:
        """The earlier messages, oldest first, each with whether the person wrote it."""
        return [(turn.role == "user", turn.content) for turn in self.history]
