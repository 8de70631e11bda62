"""What a person is told besides an answer: how it came about, not what it says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.documents.holdings import holdings_of

if TYPE_CHECKING:
    from apps.accounts.models import User


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


@dataclass(frozen=True, slots=True)
class UnsearchedNote:
    """A refusal did not look into these documents: they failed to index, or are not done yet."""

    failed: int
    unfinished: int
    code: ClassVar[str] = "DOCUMENTS_NOT_SEARCHED"

    @property
    def text(self) -> str:
        """The note in the active language, as the pages word it."""
        failed = ngettext(
            "%(n)s 份文档索引失败，无法检索。", "%(n)s 份文档索引失败，无法检索。", self.failed
        )
        unfinished = ngettext(
            "%(n)s 份文档正在索引，完成后就可以提问。",
            "%(n)s 份文档正在索引，完成后就可以提问。",
            self.unfinished,
        )
        counted = ((failed, self.failed), (unfinished, self.unfinished))
        return " ".join(text % {"n": count} for text, count in counted if count)

    def data(self) -> dict[str, object]:
        """Return the note's JSON form."""
        return {
            "code": self.code,
            "message": self.text,
            "failed_documents": self.failed,
            "unfinished_documents": self.unfinished,
        }


Note = TrimNote | UnsearchedNote


def refusal_notes(owner: User) -> tuple[UnsearchedNote, ...]:
    """Return what is told now with a refusal: which documents could not be searched."""
    held = holdings_of(owner)
    is_whole = not (held.failed or held.unfinished)
    return () if is_whole else (UnsearchedNote(held.failed, held.unfinished),)
