"""Who asks: plain values about the person that a run may use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uuid import UUID


@dataclass(frozen=True, slots=True)
class UserAgentContext:
    """The asker (002): `ai_language` is the BCP-47 tag in which fixed texts are given."""

    user_id: UUID
    username: str
    ai_language: str = "zh-CN"
