"""Sessions, messages and the sources of answers: the merged tables of the requirements."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Prefetch, Q, Subquery
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.core.errors import NotFoundError
from apps.core.fields import MicroYuanField
from apps.core.passages import Source
from apps.documents.models import Chunk, Document, DocumentStatus

if TYPE_CHECKING:
    from uuid import UUID

    from apps.accounts.models import User

TITLE_MAX_CHARS = 255
MODEL_CODE_MAX_CHARS = 50
AGENT_MAX_CHARS = 50
VENDOR_MAX_CHARS = 100
REQUEST_ID_MAX_CHARS = 100
CNY = "CNY"


class SessionStatus(models.TextChoices):
    """The state of the session's latest run (000)."""

    PENDING = "pending", _("未开始")
    RUNNING = "running", _("进行中")
    COMPLETED = "completed", _("已完成")
    FAILED = "failed", _("失败")


class MessageRole(models.TextChoices):
    """000."""

    USER = "user", _("用户")
    ASSISTANT = "assistant", _("助手")
    SYSTEM = "system", _("系统")
    TOOL = "tool", _("工具")


class MessageStatus(models.TextChoices):
    """003 §6.5."""

    GENERATING = "generating", _("生成中")
    COMPLETED = "completed", _("已完成")
    FAILED = "failed", _("失败")


class SessionQuerySet(models.QuerySet["AgentChatSession"]):
    """Conditions on sessions that more than one place needs."""

    def of(self, user: User) -> Self:
        """Only one person's sessions that are not deleted."""
        return self.filter(user=user, deleted_at=None)

    def found(self, session_id: UUID) -> AgentChatSession:
        """Return one of them; raise NotFoundError when it is none of them."""
        session = self.filter(id=session_id).first()
        if session is None:
            raise NotFoundError
        return session

    def recent_first(self) -> Self:
        """By last activity, the latest first."""
        return self.order_by("-last_activity_at", "-id")

    def with_first_question(self) -> Self:
        """With `first_question`, the text that a session without a given title is named by."""
        asked = AgentChatMessage.objects.conversation().filter(
            session=OuterRef("pk"), role=MessageRole.USER
        )
        return self.annotate(first_question=Subquery(asked.values("content")[:1]))

    def matching(self, text: str) -> Self:
        """Those whose title or visible messages contain `text`, whatever its case."""
        said = AgentChatMessage.objects.conversation().filter(
            session=OuterRef("pk"), content__icontains=text
        )
        return self.filter(Q(title__icontains=text) | Exists(said))


class AgentChatSession(models.Model):
    """A conversation. Deleting one leaves this row as a tombstone with its cost figures."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="chat_sessions"
    )
    title = models.CharField(max_length=TITLE_MAX_CHARS, null=True, blank=True)
    status = models.CharField(max_length=10, choices=SessionStatus, default=SessionStatus.PENDING)
    state_snapshot = models.JSONField(default=dict, blank=True)
    error_id = models.UUIDField(null=True, blank=True)
    last_activity_at = models.DateTimeField(default=timezone.now)
    message_count = models.PositiveIntegerField(default=0)
    total_tokens = models.PositiveBigIntegerField(default=0)
    total_cost = MicroYuanField(default=0)
    unpriced_calls = models.PositiveIntegerField(default=0)
    billing_currency = models.CharField(max_length=3, default=CNY)
    billing_country_snapshot = models.CharField(max_length=2, default="CN")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    deleted_at = models.DateTimeField(null=True, blank=True)

    objects = SessionQuerySet.as_manager()

    class Meta:
        db_table = "agent_chat_sessions"
        verbose_name = pgettext_lazy("one", "会话")
        verbose_name_plural = _("会话")
        indexes = [
            models.Index(fields=["user", "-created_at"], name="idx_sessions_user_created"),
            models.Index(fields=["user", "-last_activity_at"], name="idx_sessions_user_last_act"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=SessionStatus.values), name="chk_session_status"
            ),
            models.CheckConstraint(
                condition=Q(billing_currency__in=[CNY]), name="chk_billing_currency"
            ),
            models.CheckConstraint(
                condition=Q(message_count__gte=0) & Q(total_tokens__gte=0) & Q(total_cost__gte=0),
                name="chk_session_totals",
            ),
        ]

    def __str__(self) -> str:
        return self.title or str(_("新会话"))


class MessageQuerySet(models.QuerySet["AgentChatMessage"]):
    """Conditions on messages that more than one place needs."""

    def visible(self) -> Self:
        """What a person may see: positive sequence numbers, not replaced, in order."""
        return self.filter(seq__gt=0, deleted_at=None).order_by("seq")

    def conversation(self) -> Self:
        """The user's and the assistant's visible messages, in order."""
        return self.visible().filter(role__in=[MessageRole.USER, MessageRole.ASSISTANT])

    def generating(self) -> Self:
        """The placeholders of answers that are being written."""
        return self.filter(status=MessageStatus.GENERATING)

    def with_sources(self) -> Self:
        """With the sources that still exist, their chunks and documents (two queries)."""
        kept = MessageSource.objects.exclude(document__status=DocumentStatus.DELETING)
        sources = kept.select_related("chunk__document").order_by("citation_label")
        return self.prefetch_related(Prefetch("sources", queryset=sources))


class AgentChatMessage(models.Model):
    """One message: `seq` > 0 is visible (user, assistant, tool), `seq` < 0 only for the audit."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = models.ForeignKey(
        AgentChatSession, on_delete=models.CASCADE, related_name="messages"
    )
    seq = models.IntegerField()
    run_id = models.UUIDField(null=True, blank=True)
    role = models.CharField(max_length=10, choices=MessageRole)
    status = models.CharField(
        max_length=10, choices=MessageStatus, default=MessageStatus.COMPLETED
    )
    error_code = models.CharField(max_length=50, null=True, blank=True)
    content = models.TextField(blank=True, default="")
    model_code = models.CharField(max_length=MODEL_CODE_MAX_CHARS, null=True, blank=True)
    tool_name = models.CharField(max_length=100, null=True, blank=True)
    input_tokens = models.PositiveBigIntegerField(default=0)
    output_tokens = models.PositiveBigIntegerField(default=0)
    cost = MicroYuanField(null=True, default=0)
    currency = models.CharField(max_length=3, default=CNY)
    latency_ms = models.PositiveIntegerField(null=True, blank=True)
    metadata = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    deleted_at = models.DateTimeField(null=True, blank=True)

    objects = MessageQuerySet.as_manager()

    class Meta:
        db_table = "agent_chat_messages"
        verbose_name = pgettext_lazy("one", "消息")
        verbose_name_plural = _("消息")
        indexes = [
            models.Index(
                fields=["session", "seq"], condition=Q(seq__gt=0), name="idx_messages_seq_display"
            ),
            models.Index(
                fields=["session", "seq"], condition=Q(seq__lt=0), name="idx_messages_seq_audit"
            ),
            models.Index(fields=["session", "role"], name="idx_messages_session_role"),
            models.Index(fields=["session", "-created_at"], name="idx_messages_session_created"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["session", "seq"], name="uq_messages_session_seq"),
            models.UniqueConstraint(
                fields=["session"],
                condition=Q(status=MessageStatus.GENERATING),
                name="uq_messages_one_generating",
            ),
            models.CheckConstraint(condition=~Q(seq=0), name="chk_message_seq"),
            models.CheckConstraint(
                condition=Q(role__in=MessageRole.values), name="chk_message_role"
            ),
            models.CheckConstraint(
                condition=Q(status__in=MessageStatus.values), name="chk_message_status"
            ),
            models.CheckConstraint(
                condition=Q(input_tokens__gte=0)
                & Q(output_tokens__gte=0)
                & (Q(cost=None) | Q(cost__gte=0)),
                name="chk_message_amounts",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.session_id}#{self.seq}"


class CallKind(models.TextChoices):
    """What a model was called for."""

    CHAT = "chat", _("对话")
    EMBEDDING = "embedding", _("向量")
    SPEECH = "speech", _("语音")


class CallStatus(models.TextChoices):
    """A call is running until its end, or its process's end, is known."""

    RUNNING = "running", _("进行中")
    COMPLETED = "completed", _("已完成")
    FAILED = "failed", _("失败")
    CANCELLED = "cancelled", _("已取消")


class ModelCall(models.Model):
    """One request to a model. It belongs to the message that carries the sum of its calls' costs.

    `cost` is NULL when the model has no price. While a call runs, tokens and cost are an estimate
    of its prompt: what is charged if the process dies.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = models.ForeignKey(
        AgentChatSession, on_delete=models.CASCADE, related_name="model_calls"
    )
    message = models.ForeignKey(AgentChatMessage, on_delete=models.CASCADE, related_name="calls")
    run_id = models.UUIDField()
    stage = models.CharField(max_length=20)
    agent = models.CharField(max_length=AGENT_MAX_CHARS, blank=True, default="")
    vendor = models.CharField(max_length=VENDOR_MAX_CHARS, blank=True, default="")
    model_code = models.CharField(max_length=MODEL_CODE_MAX_CHARS)
    kind = models.CharField(max_length=10, choices=CallKind)
    status = models.CharField(max_length=10, choices=CallStatus, default=CallStatus.RUNNING)
    input_tokens = models.PositiveBigIntegerField(default=0)
    cached_tokens = models.PositiveBigIntegerField(default=0)
    cache_creation_tokens = models.PositiveBigIntegerField(default=0)
    output_tokens = models.PositiveBigIntegerField(default=0)
    reasoning_tokens = models.PositiveBigIntegerField(default=0)
    seconds = models.FloatField(default=0)
    cost = MicroYuanField(null=True, default=0)
    cost_source = models.CharField(max_length=20)
    price_version = models.CharField(max_length=32, null=True, blank=True)
    currency = models.CharField(max_length=3, default=CNY)
    started_at = models.DateTimeField()
    first_token_ms = models.PositiveIntegerField(null=True, blank=True)
    latency_ms = models.PositiveIntegerField(null=True, blank=True)
    provider_request_id = models.CharField(max_length=REQUEST_ID_MAX_CHARS, null=True, blank=True)
    raw_usage = models.JSONField(null=True, blank=True)

    class Meta:
        db_table = "model_calls"
        verbose_name = pgettext_lazy("one", "模型调用")
        verbose_name_plural = _("模型调用")
        ordering = ["started_at", "id"]
        indexes = [
            models.Index(fields=["session", "started_at"], name="idx_model_calls_session"),
            models.Index(fields=["run_id"], name="idx_model_calls_run"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=CallStatus.values), name="chk_model_call_status"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=CallKind.values), name="chk_model_call_kind"
            ),
            models.CheckConstraint(
                condition=Q(cost=None) | Q(cost__gte=0), name="chk_model_call_cost"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.stage} {self.model_code} {self.started_at}"


class MessageSource(models.Model):
    """A passage that an answer rests on; name and text come from the chunk, no copy is kept."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    message = models.ForeignKey(AgentChatMessage, on_delete=models.CASCADE, related_name="sources")
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="+")
    chunk = models.ForeignKey(Chunk, on_delete=models.CASCADE, related_name="+")
    citation_label = models.CharField(max_length=3)
    score = models.FloatField()
    scope = models.CharField(max_length=64, blank=True, default="")
    search_query = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "message_sources"
        verbose_name = pgettext_lazy("one", "来源")
        verbose_name_plural = _("来源")
        ordering = ["message", "citation_label"]
        constraints = [
            models.UniqueConstraint(
                fields=["message", "chunk"], name="uq_message_sources_message_chunk"
            ),
            models.UniqueConstraint(
                fields=["message", "citation_label"], name="uq_message_sources_message_label"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.message_id} {self.citation_label}"

    @property
    def found(self) -> Source:
        """The source as the run found it; its chunk and document must be loaded."""
        return Source(self.citation_label, self.chunk.passage(self.score), self.search_query)
