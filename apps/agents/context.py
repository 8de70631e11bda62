"""Who asks: plain values about the person, and how a prompt may show them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from uuid import UUID

LONGEST_FIELD = 512  # characters of each profile field in a prompt (002)


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
        return "zh" if self.ai_language.lower().startswith("zh") else "en"

    @property
    def profile_json(self) -> str:
        """The profile as one line of escaped ASCII JSON: data that cannot end its block."""
        profile = {
            "username": _cut(self.username),
            "bio": _cut(self.bio),
            "interface_language": _cut(self.interface_language),
            "ai_language": _cut(self.ai_language),
            "timezone": _cut(self.time_zone),
            "country": _cut(self.country),
        }
        return json.dumps(profile, ensure_ascii=True, separators=(",", ":"))


def _cut(text: str | None) -> str:
    return (text or "").strip()[:LONGEST_FIELD]
