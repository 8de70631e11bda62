"""A turn that was begun, and what the agents are told of it: who asks, after which messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.utils import translation

from apps.accounts.profiles import LANGUAGE_TAGS, read_person
from apps.agents.context import UserAgentContext
from apps.agents.events import Turn
from apps.chat.models import AgentChatMessage, MessageRole, MessageSource, MessageStatus

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from apps.accounts.models import User


@dataclass(frozen=True, slots=True)
class StartedTurn:
    """A stored question whose answer is about to be written into `message_id`."""

    session_id: UUID
    run_id: UUID
    question_id: UUID
    message_id: UUID
    user_id: UUID
    question: str

    @classmethod
    def of(cls, placeholder: AgentChatMessage) -> Self:
        """The turn of a placeholder that is to be ended; its question is not read."""
        return cls(
            session_id=placeholder.session_id,
            run_id=placeholder.run_id or placeholder.id,
            question_id=placeholder.id,
            message_id=placeholder.id,
            user_id=placeholder.session.user_id,
            question="",
        )


@dataclass(frozen=True, slots=True)
class TurnContext:
    """Who asks, after which messages, and the chunks that these cite."""

    owner: User
    person: UserAgentContext
    history: list[Turn]
    cited: list[UUID]


def turn_context(turn: StartedTurn) -> TurnContext:
    """Return the last completed messages before the placeholder, oldest first, and the asker."""
    placeholder = AgentChatMessage.objects.select_related("session__user").get(id=turn.message_id)
    latest_first = list(
        AgentChatMessage.objects.conversation()
        .filter(session_id=turn.session_id, status=MessageStatus.COMPLETED)
        .exclude(id=turn.question_id)
        .reverse()[: settings.ENV.history_message_limit]
    )
    history = [
        Turn("user" if message.role == MessageRole.USER else "assistant", message.content)
        for message in reversed(latest_first)
    ]
    owner = placeholder.session.user
    return TurnContext(owner, _context_of(owner), history, _cited_chunks(latest_first))


def _cited_chunks(messages: Sequence[AgentChatMessage]) -> list[UUID]:
    """Return the chunks that the messages cite, each once."""
    labels = {message.id: message.metadata.get("cited_labels", ()) for message in messages}
    sources = MessageSource.objects.filter(message_id__in=labels).values_list(
        "message_id", "citation_label", "chunk_id"
    )
    return sorted({chunk for message, label, chunk in sources if label in labels[message]})


def _context_of(owner: User) -> UserAgentContext:
    """Return who asks; where no language is chosen, that of the page counts."""
    person = read_person(owner)
    shown = translation.get_language() or settings.LANGUAGE_CODE
    page_language = LANGUAGE_TAGS.get(shown, shown)
    pages = {"ai_language": page_language, "interface_language": page_language}
    unchosen = {name: tag for name, tag in pages.items() if name not in person.chosen}
    preferences = person.preferences.model_copy(update=unchosen)
    return UserAgentContext(
        user_id=owner.id,
        username=person.username,
        ai_language=preferences.ai_language,
        bio=person.bio,
        interface_language=preferences.interface_language,
        time_zone=preferences.timezone,
        country=preferences.country,
    )
