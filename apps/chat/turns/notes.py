"""What a person is told besides an answer: how it came about, not what it says.

A note is its own JSON form; its message is worded when it is read, in the active language.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from pydantic import BaseModel, computed_field

from apps.documents.holdings import holdings_of

if TYPE_CHECKING:
    from apps.accounts.models import User


class TrimNote(BaseModel, frozen=True):
    """The conversation or the evidence was too long for the model; so much was left out."""

    code: Literal["CONTEXT_TRIMMED"] = "CONTEXT_TRIMMED"
    history_messages: int
    sources: int

    @computed_field  # type: ignore[prop-decorator]
    @property
    def message(self) -> str:
        """The note in the active language."""
        messages = ngettext("较早的 {n} 条消息", "较早的 {n} 条消息", self.history_messages)
        messages = messages.format(n=self.history_messages)
        sources = ngettext("{n} 个来源", "{n} 个来源", self.sources).format(n=self.sources)
        if self.history_messages and self.sources:
            missing = _("{messages}和 {sources}").format(messages=messages, sources=sources)
        else:
            missing = messages if self.history_messages else sources
        return _("{missing}没有交给模型：超出模型的上下文长度").format(missing=missing)


class UnsearchedNote(BaseModel, frozen=True):
    """A refusal did not look into these documents: they failed to index, or are not done yet."""

    code: Literal["DOCUMENTS_NOT_SEARCHED"] = "DOCUMENTS_NOT_SEARCHED"
    failed_documents: int
    unfinished_documents: int

    @computed_field  # type: ignore[prop-decorator]
    @property
    def message(self) -> str:
        """The note in the active language, as the pages word it."""
        failed = ngettext(
            "%(n)s 份文档索引失败，无法检索。",
            "%(n)s 份文档索引失败，无法检索。",
            self.failed_documents,
        )
        unfinished = ngettext(
            "%(n)s 份文档正在索引，完成后就可以提问。",
            "%(n)s 份文档正在索引，完成后就可以提问。",
            self.unfinished_documents,
        )
        counted = ((failed, self.failed_documents), (unfinished, self.unfinished_documents))
        return " ".join(text % {"n": count} for text, count in counted if count)


Note = TrimNote | UnsearchedNote


def refusal_notes(owner: User) -> tuple[UnsearchedNote, ...]:
    """Return what is told now with a refusal: which documents could not be searched."""
    held = holdings_of(owner)
    if not (held.failed or held.unfinished):
        return ()
    note = UnsearchedNote(failed_documents=held.failed, unfinished_documents=held.unfinished)
    return (note,)
