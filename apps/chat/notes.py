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
        sources = ngettext("{n} 个来源", "{n} 个来源", self.sources)
        parts = [
            text.format(n=count)
            for text, count in ((messages, self.history_messages), (sources, self.sources))
            if count
        ]
        return _("{parts}没有交给模型：超出模型的上下文长度").format(parts=_("和").join(parts))

    def data(self) -> dict[str, object]:
        """Return the note's JSON form."""
        return {
            "code": self.code,
            "message": self.text,
            "history_messages": self.history_messages,
            "sources": self.sources,
        }
