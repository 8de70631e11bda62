"""Making, naming and deleting conversations. Each verb owns its transaction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from django.db import transaction
from django.utils import timezone

from apps.accounts.profiles import read_person
from apps.chat.costs.billing import settle_session
from apps.chat.errors import SessionDeletedError
from apps.chat.models import (
    TITLE_MAX_CHARS,
    AgentChatMessage,
    AgentChatSession,
    MessageSource,
    MessageStatus,
    SessionStatus,
)
from apps.chat.runs import running
from apps.chat.turns.metadata import AssistantOutput, UserInput
from apps.chat.turns.questions import folded, is_blank, title_of
from apps.core.errors import NotFoundError, ValidationFailedError
from apps.core.text.cleaning import clean_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from apps.accounts.models import User

MAX_IMPORTED_MESSAGES = 50  # issue 2
MAX_IMPORTED_CHARS = 100_000  # of one message; a long answer is far below


@dataclass(frozen=True, slots=True)
class ImportedMessage:
    """A message of a conversation that was held elsewhere."""

    role: Literal["user", "assistant"]
    content: str


def create_session(
    user: User, *, title: str | None = None, messages: Sequence[ImportedMessage] = ()
) -> AgentChatSession:
    """Make a session; `messages` are carried over without runs or costs.

    Without a title the first question names the session, which may be the first imported one.

    Raises:
        ValidationFailedError: the title is too long, there are too many messages, or one is empty.
    """
    contents = _cleaned(messages)
    questions = (text for role, text in contents if role == "user")
    chosen = _valid_title(title or "") or title_of(next(questions, ""))
    with transaction.atomic():
        session = AgentChatSession.objects.create(
            user=user,
            title=chosen or None,
            billing_country_snapshot=read_person(user).preferences.country,
        )
        AgentChatMessage.objects.bulk_create(
            AgentChatMessage(
                session=session,
                seq=seq,
                role=role,
                content=text,
                currency=session.billing_currency,
                metadata=_imported_metadata(role),
            )
            for seq, (role, text) in enumerate(contents, start=1)
        )
        settle_session(session.id)
    session.refresh_from_db()
    return session


def rename_session(session: AgentChatSession, title: str) -> None:
    """Give the session a title by hand; an empty one is refused.

    Raises:
        ValidationFailedError: the title is empty or longer than 255 characters.
        NotFoundError: the session was deleted meanwhile.
    """
    chosen = _valid_title(title)
    if is_blank(chosen):
        raise ValidationFailedError(detail="title: empty")
    now = timezone.now()
    renamed = AgentChatSession.objects.filter(id=session.id, deleted_at=None)
    if not renamed.update(title=chosen, updated_at=now):
        raise NotFoundError
    session.title, session.updated_at = chosen, now


def delete_session(session: AgentChatSession) -> None:
    """Delete a session: its texts, sources and state go; the cost figures stay for the audit.

    A run that is answering in it ends; what it still writes no longer finds its placeholder.

    Raises:
        NotFoundError: the session was deleted meanwhile.
    """
    with transaction.atomic():
        run_id = _purge(session.id)
    if run_id is not None:
        running.cancel(run_id, SessionDeletedError())


def _purge(session_id: UUID) -> UUID | None:
    """Blank the session and its messages; return the id of the run that was answering."""
    now = timezone.now()
    messages = AgentChatMessage.objects.filter(session_id=session_id)
    run_id = messages.generating().values_list("run_id", flat=True).first()
    deleted = AgentChatSession.objects.filter(id=session_id, deleted_at=None).update(
        title=None, state_snapshot={}, error_id=None, deleted_at=now, updated_at=now
    )
    if not deleted:
        raise NotFoundError
    MessageSource.objects.filter(message__session_id=session_id).delete()
    if messages.generating().update(
        status=MessageStatus.FAILED, error_code=SessionDeletedError.code
    ):
        AgentChatSession.objects.filter(id=session_id).update(status=SessionStatus.FAILED)
    messages.update(content="", metadata={}, deleted_at=now, updated_at=now)
    return run_id


def _cleaned(messages: Sequence[ImportedMessage]) -> list[tuple[str, str]]:
    if len(messages) > MAX_IMPORTED_MESSAGES:
        raise ValidationFailedError(detail=f"messages: at most {MAX_IMPORTED_MESSAGES}")
    cleaned: list[tuple[str, str]] = [
        (message.role, clean_text(message.content).strip()) for message in messages
    ]
    for index, (_role, text) in enumerate(cleaned):
        if is_blank(text):
            raise ValidationFailedError(detail=f"messages.{index}.content: empty")
        if len(text) > MAX_IMPORTED_CHARS:
            raise ValidationFailedError(
                detail=f"messages.{index}.content: at most {MAX_IMPORTED_CHARS} characters"
            )
    return cleaned


def _valid_title(title: str) -> str:
    chosen = folded(title)
    if len(chosen) > TITLE_MAX_CHARS:
        raise ValidationFailedError(detail=f"title: at most {TITLE_MAX_CHARS} characters")
    return chosen


def _imported_metadata(role: str) -> dict[str, object]:
    facts = UserInput(imported=True) if role == "user" else AssistantOutput(imported=True)
    return facts.model_dump(mode="json", exclude_none=True)
