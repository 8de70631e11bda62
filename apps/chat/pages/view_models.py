"""What a page shows of a conversation: plain values for the templates, text not yet escaped."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from apps.chat.errors import RunStoppedError
from apps.chat.models import (
    AgentChatMessage,
    MessageRole,
    MessageStatus,
)
from apps.chat.pages.marking import Piece, claims_by_label, marked_pieces, without_labels
from apps.chat.pages.rendering import Citation, render_answer
from apps.chat.turns.metadata import AssistantOutput
from apps.chat.turns.questions import shown_title
from apps.core.text.graphemes import shortened
from apps.documents.web.reflow import reflowed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from uuid import UUID

    from django.utils.safestring import SafeString

    from apps.agents.events import Stage
    from apps.chat.models import AgentChatSession
    from apps.chat.turns.notes import TrimNote
    from apps.core.passages import Passage, Source

SEARCH_TOOL = "search_knowledge_base"
EXCERPT_CHARS = 180
QUERY_CHARS = 60
STAGES: tuple[Stage, ...] = ("intent", "execution", "organization")
RECENT_TURNS = 40  # a page of more is slow to build and to read


@dataclass(frozen=True, slots=True)
class SourceView:
    """A source in the right pane."""

    label: str
    passage: Passage
    pieces: list[Piece]
    is_cited: bool = True

    @property
    def number(self) -> str:
        """The number that stands for the label."""
        return self.label.removeprefix("S")

    @property
    def place(self) -> str:
        """The file's name, with the page where there is one."""
        name, page = self.passage.filename, self.passage.page_number
        return name if page is None else _("{name} 第 {page} 页").format(name=name, page=page)

    @property
    def excerpt(self) -> str:
        """What the citation's card shows: the passage from its first marked sentence on."""
        texts = [piece.text for piece in self.pieces]
        first = next((i for i, piece in enumerate(self.pieces) if piece.is_marked), 0)
        text = "".join(texts[first:]).strip()
        return shortened(text, EXCERPT_CHARS)


@dataclass(frozen=True, slots=True)
class SessionView:
    """A session in the left pane."""

    id: UUID
    title: str

    def __str__(self) -> str:
        return self.title


@dataclass(frozen=True, slots=True)
class MessageView:
    """A question or an answer; `html` is set for answers that are over."""

    row: AgentChatMessage
    html: SafeString | str = ""
    sources: list[SourceView] = field(default_factory=list)
    searches: list[str] = field(default_factory=list)
    cites_deleted: bool = False  # it cites sources, and none of these is left

    @property
    def error_text(self) -> str:
        """Why the answer failed; a stored sentence without figures in it is translated."""
        error = self.row.metadata.get("error") or {}
        return _(str(error.get("message") or "")) or _("回答没有完成，请重新发送。")

    @property
    def notes(self) -> tuple[TrimNote, ...]:
        """What is told besides the answer."""
        return AssistantOutput.model_validate(self.row.metadata).notes

    @property
    def is_running(self) -> bool:
        """Whether the answer is still being written."""
        return self.row.status == MessageStatus.GENERATING

    @property
    def is_stopped(self) -> bool:
        """Whether the person stopped the answer, which is no fault."""
        return self.row.error_code == RunStoppedError.code

    @property
    def is_unfinished(self) -> bool:
        """Whether the answer is not whole, so that what was found need not support it."""
        return self.row.status != MessageStatus.COMPLETED

    @property
    def is_refusal(self) -> bool:
        """Whether the evidence did not suffice."""
        return bool(self.row.metadata.get("outcome") == "insufficient_evidence")

    @property
    def nearest(self) -> SourceView:
        """The passage that was nearest to the question; there must be sources."""
        return max(self.sources, key=lambda source: source.passage.score)

    @property
    def text_to_copy(self) -> str:
        """The answer's Markdown with the cited sources below it."""
        lines = [f"[{source.label}] {source.place}" for source in self.sources if source.is_cited]
        return "\n".join([self.row.content, "", *lines] if lines else [self.row.content])


def session_view(session: AgentChatSession) -> SessionView:
    """Return a session that was read `with_first_question`."""
    return SessionView(
        session.id, shown_title(str(session), getattr(session, "first_question", None))
    )


def conversation_of(session: AgentChatSession, *, from_seq: int = 0) -> list[MessageView]:
    """Return the questions and answers from `from_seq` on, with sources and searches."""
    return message_views(session.messages.visible().with_sources().filter(seq__gte=from_seq))


def recent_from_seq(session: AgentChatSession) -> int:
    """Return where the last `RECENT_TURNS` turns begin, 0 when there are no more than these."""
    questions = session.messages.conversation().filter(role=MessageRole.USER)
    newest = questions.order_by("-seq").values_list("seq", flat=True)[: RECENT_TURNS + 1]
    return newest[RECENT_TURNS - 1] if len(newest) > RECENT_TURNS else 0


def message_of(session: AgentChatSession, message_id: UUID) -> MessageView | None:
    """Return one question or answer of the session, or None."""
    row = session.messages.conversation().filter(id=message_id).first()
    if row is None:
        return None
    of_run = session.messages.visible().with_sources().filter(run_id=row.run_id)
    return next((shown for shown in message_views(of_run) if shown.row.id == message_id), None)


def message_views(rows: Iterable[AgentChatMessage]) -> list[MessageView]:
    """Return the questions and answers among `rows`, with the searches of their runs."""
    searches: dict[UUID | None, list[str]] = {}
    shown: list[MessageView] = []
    for row in rows:
        if row.role == MessageRole.TOOL:
            known = searches.setdefault(row.run_id, [])
            known.extend(query for query in _searched(row) if query not in known)
        elif row.role == MessageRole.USER:
            shown.append(MessageView(row))
        elif row.role == MessageRole.ASSISTANT:
            shown.append(_answer_view(row, searches.setdefault(row.run_id, [])))
    return shown


def shown_query(query: str) -> str:
    """Return what a page shows of a search: its last line, cut; a follow-up's context is above."""
    return shortened(query.strip().rpartition("\n")[2].strip(), QUERY_CHARS)


def source_view(source: Source, claims: Sequence[str] | None = ()) -> SourceView:
    """Return a source with the sentences marked that support the answer's claims.

    Without claims nothing is marked; None is for a source that the answer does not cite.
    """
    passage = source.passage
    # The line ends of a page's layout are joined.
    text = passage.content if passage.page_number is None else reflowed(passage.content)
    pieces = marked_pieces(text, claims or ())
    return SourceView(source.label, passage, pieces, is_cited=claims is not None)


def _answer_view(row: AgentChatMessage, searches: list[str]) -> MessageView:
    is_whole = row.status == MessageStatus.COMPLETED
    text = row.content if is_whole else without_labels(row.content)  # its sources are not stored
    claims = claims_by_label(text)
    sources = [
        source_view(saved.found, claims.get(saved.citation_label)) for saved in row.sources.all()
    ]
    sources.sort(key=lambda source: not source.is_cited)
    citations = {source.label: Citation(source.label, source.place) for source in sources}
    return MessageView(
        row,
        html=render_answer(text, citations, row.id),
        sources=sources,
        searches=searches,
        cites_deleted=bool(claims) and not any(source.is_cited for source in sources),
    )


def _searched(row: AgentChatMessage) -> Sequence[str]:
    """Return the query of a search's call, none for other tool messages."""
    if row.tool_name != SEARCH_TOOL or row.metadata.get("type") != "tool_call":
        return ()
    query = shown_query(str(json.loads(row.content).get("query") or ""))
    return [query] if query else ()


def sources_context(message: MessageView) -> dict[str, object]:
    """Return what the right pane needs to show an answer's sources."""
    return {
        "sources": message.sources,
        "message_id": message.row.id,
        "is_refusal": message.is_refusal,
        "is_running": message.is_running,
        "is_unfinished": message.is_unfinished,
        "cites_deleted": message.cites_deleted,
    }


def steps_at(stage: Stage) -> list[dict[str, str]]:
    """Return the three steps with their state while `stage` runs: done, now or next."""
    labels = (_("理解问题"), _("检索资料"), _("撰写回答"))
    now = STAGES.index(stage)
    return [
        {"label": label, "state": "done" if index < now else "now" if index == now else "next"}
        for index, label in enumerate(labels)
    ]
