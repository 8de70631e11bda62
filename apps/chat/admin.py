"""Conversations for the audit: totals, messages inline, sources; all read-only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from apps.chat.models import AgentChatMessage, AgentChatSession, MessageSource, ModelCall
from apps.core.fields import yuan
from apps.core.text.graphemes import shortened
from apps.core.web.admin import AuditAdmin

if TYPE_CHECKING:
    from decimal import Decimal

    from django.db.models import QuerySet
    from django.http import HttpRequest

OPENING_CHARS = 80
ID_CHARS = 8  # the whole id of a row stands on its page, and the search finds it
MESSAGE_FACTS = (
    "seq", "role", "status", "opening", "model_code", "input_tokens", "output_tokens", "cost_yuan",
    "cost_source", "latency_ms", "error_code", "created_at",
)  # fmt: skip

CALL_FACTS = (
    "stage", "agent", "kind", "vendor", "model_code", "status", "input_tokens", "cached_tokens",
    "cache_creation_tokens", "output_tokens", "reasoning_tokens", "cost_yuan", "cost_source",
    "price_version", "first_token_ms", "latency_ms", "started_at",
)  # fmt: skip
SOURCE_FACTS = ("citation_label", "document", "score", "search_query", "scope")


class CallFacts:
    """Columns that lists and inlines of model calls and messages share."""

    @admin.display(description=_("会话编号"), ordering="session_id")
    def short_session(self, row: ModelCall | AgentChatMessage) -> str:
        """Return the beginning of the session's id."""
        return str(row.session_id)[:ID_CHARS]

    @admin.display(description=_("费用（元）"))
    def cost_yuan(self, row: ModelCall | AgentChatMessage) -> Decimal | None:
        """Return the cost in yuan; None when the model has no price."""
        return None if row.cost is None else yuan(row.cost)


class MessageFacts(CallFacts):
    """Columns that lists and inlines of messages share."""

    @admin.display(description=_("内容"))
    def opening(self, message: AgentChatMessage) -> str:
        """Return the first characters of the text."""
        return shortened(message.content, OPENING_CHARS)

    @admin.display(description=_("费用来源"))
    def cost_source(self, message: AgentChatMessage) -> str | None:
        """Return the least certain source of the cost; None when nothing was called."""
        source = message.metadata.get("cost_source")
        return None if source is None else str(source)


class AuditInline(admin.TabularInline):  # type: ignore[type-arg]
    extra = 0
    can_delete = False


class ModelCallInline(CallFacts, AuditInline):
    model = ModelCall
    fields = readonly_fields = CALL_FACTS


class MessageInline(MessageFacts, AuditInline):
    model = AgentChatMessage
    fields = readonly_fields = MESSAGE_FACTS
    show_change_link = True


class VisibleMessageInline(MessageInline):
    verbose_name_plural = _("可见消息")

    def get_queryset(self, request: HttpRequest) -> QuerySet[AgentChatMessage]:
        """Return what the person saw, in order."""
        return super().get_queryset(request).filter(seq__gt=0).order_by("seq")


class AuditMessageInline(MessageInline):
    verbose_name_plural = _("审计消息")

    def get_queryset(self, request: HttpRequest) -> QuerySet[AgentChatMessage]:
        """Return what only the audit sees, in order."""
        return super().get_queryset(request).filter(seq__lt=0).order_by("-seq")


@admin.register(AgentChatSession)
class AgentChatSessionAdmin(AuditAdmin):
    list_display = [
        "__str__", "user", "status", "message_count", "total_tokens", "total_yuan",
        "unpriced_calls", "last_activity_at", "deleted_at",
    ]  # fmt: skip
    list_filter = ["status", "last_activity_at", ("deleted_at", admin.EmptyFieldListFilter)]
    search_fields = ["title", "id", "user__username"]
    list_select_related = ["user"]
    ordering = ["-last_activity_at"]
    inlines = [VisibleMessageInline, AuditMessageInline]

    @admin.display(description=_("费用（元）"), ordering="total_cost")
    def total_yuan(self, session: AgentChatSession) -> Decimal:
        """Return the session's cost in yuan."""
        return yuan(session.total_cost)


class MessageSourceInline(AuditInline):
    model = MessageSource
    fields = readonly_fields = SOURCE_FACTS

    def get_queryset(self, request: HttpRequest) -> QuerySet[MessageSource]:
        """Return the sources with their documents."""
        return super().get_queryset(request).select_related("document")


@admin.register(AgentChatMessage)
class AgentChatMessageAdmin(MessageFacts, AuditAdmin):
    list_display = ["short_session", *MESSAGE_FACTS]
    list_filter = ["role", "status", "model_code", "error_code", "created_at"]
    search_fields = ["session__id", "run_id", "id"]
    ordering = ["-created_at"]
    inlines = [MessageSourceInline, ModelCallInline]


@admin.register(ModelCall)
class ModelCallAdmin(CallFacts, AuditAdmin):
    list_display = ["short_session", *CALL_FACTS]
    list_filter = ["kind", "status", "stage", "model_code", "cost_source", "started_at"]
    search_fields = ["session__id", "run_id", "id", "provider_request_id"]
    ordering = ["-started_at"]


@admin.register(MessageSource)
class MessageSourceAdmin(AuditAdmin):
    list_display = ["citation_label", "document", "short_message", "score", "created_at"]
    search_fields = ["document__filename", "message__id"]
    list_select_related = ["document"]
    ordering = ["-created_at"]

    @admin.display(description=_("消息编号"), ordering="message_id")
    def short_message(self, source: MessageSource) -> str:
        """Return the beginning of the message's id."""
        return str(source.message_id)[:ID_CHARS]
