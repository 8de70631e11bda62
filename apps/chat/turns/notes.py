"""What a person is told besides an answer: how it came about, not what it says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from django.utils.translation import gettext as _
from django.utils.translation import ngettext


@dataclass(frozen=True, slots=True)
class TrimNote:
    """The conversation or the evidence was too long for the model; so much was left out."""

    history_messages: int
    sources: int
    code: ClassVar[str] = "CONTEXT_TRIMMED"

    @property
    def text(self) -> str:
        """The note in the active language."""
        messages = ngettext("较早的 {n} 条消息", "较早的 {n} 条消息", self.history_messages)
        messages = messages.format(n=self.history_messages)
        sources = ngettext("{n} 个来源", "{n} 个来源", self.sources).format(n=self.sources)
        if self.history_messages and self.sources:
            missing = _("{messages}和 {sources}").format(messages=messages, sources=sources)
        else:
            missing = messages if self.history_messages else sources
        return _("{missing}没有交给模型：超出模型的上下文长度").format(missing=missing)

    def data(self) -> dict[str, object]:
        """Return the note's JSON form."""
        return {
            "code": self.code,
            "message": self.text,
            "history_messages": self.history_messages,
            "sources": self.sources,
        }
