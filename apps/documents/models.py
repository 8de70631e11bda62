"""Documents, their indexing jobs and their chunks (003 §6), with the queries others may ask."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.core.fields import MicroYuanField
from apps.core.passages import Passage
from apps.documents.errors import HOPELESS_CODES, failure_text
from apps.documents.kinds import registry

if TYPE_CHECKING:
    from apps.accounts.models import User

FILENAME_MAX_CHARS = 255


class DocumentStatus(models.TextChoices):
    """003 §6.1."""

    PENDING = "pending", _("等待索引")
    INDEXING = "indexing", _("索引中")
    INDEXED = "indexed", _("已就绪")
    FAILED = "failed", _("失败")
    DELETING = "deleting", _("删除中")


class ProgressStage(models.TextChoices):
    """Where an indexing job is; `done` and `total` count pages or chunks of the stage."""

    QUEUED = "queued", _("排队中")
    EXTRACTING = "extracting", _("提取文本")
    EMBEDDING = "embedding", _("计算向量")
    STORING = "storing", _("写入索引")


class DocumentQuerySet(models.QuerySet["Document"]):
    """Conditions on documents that more than one place needs."""

    def of(self, owner: User) -> Self:
        """Only the documents of one person."""
        return self.filter(owner=owner)

    def listed(self) -> Self:
        """Without the ones whose deletion has begun."""
        return self.exclude(status=DocumentStatus.DELETING)

    def indexed(self) -> Self:
        """Only those that answers may use."""
        return self.filter(status=DocumentStatus.INDEXED)

    def unfinished(self) -> Self:
        """Those that wait for indexing or are being indexed."""
        return self.filter(status__in=[DocumentStatus.PENDING, DocumentStatus.INDEXING])

    def failed(self) -> Self:
        """Those whose indexing ended without a result."""
        return self.filter(status=DocumentStatus.FAILED)

    def retryable(self) -> Self:
        """The failed ones whose file is not itself at fault."""
        return self.failed().exclude(error_code__in=HOPELESS_CODES)

    def hopeless(self) -> Self:
        """The failed ones that would fail again under any settings."""
        return self.failed().filter(error_code__in=HOPELESS_CODES)

    def move(self, status: str, **values: object) -> int:
        """Set the status and other fields; return how many documents changed."""
        return self.update(status=status, updated_at=timezone.now(), **values)


class Document(models.Model):
    """An uploaded file. The name is for display only; the file lies under the document's id."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="documents"
    )
    filename = models.CharField(max_length=FILENAME_MAX_CHARS)
    file_type = models.CharField(max_length=16, choices=registry.choices)
    mime_type = models.CharField(max_length=100)
    file_size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    status = models.CharField(
        max_length=10, choices=DocumentStatus, default=DocumentStatus.PENDING
    )
    page_count = models.PositiveIntegerField(null=True, blank=True)
    encoding = models.CharField(max_length=20, blank=True, default="")
    findings = models.JSONField(default=dict, blank=True)  # of the upload's check, for the reading
    warnings = models.JSONField(default=list, blank=True)
    chunk_count = models.PositiveIntegerField(default=0)
    progress_stage = models.CharField(
        max_length=10, choices=ProgressStage, default=ProgressStage.QUEUED
    )
    progress_done = models.PositiveIntegerField(default=0)
    progress_total = models.PositiveIntegerField(default=0)
    progress_started_at = models.DateTimeField(null=True, blank=True)
    error_code = models.CharField(max_length=50, null=True, blank=True)
    error_places = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = DocumentQuerySet.as_manager()

    class Meta:
        db_table = "documents"
        verbose_name = pgettext_lazy("one", "文档")
        verbose_name_plural = _("文档")
        ordering = ["-created_at", "-id"]
        indexes = [
            models.Index(fields=["status"], name="idx_documents_status"),
            models.Index(fields=["updated_at"], name="idx_documents_updated"),
            models.Index(fields=["owner", "-created_at"], name="idx_documents_owner_created"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(status__in=DocumentStatus.values), name="chk_document_status"
            ),
        ]

    def __str__(self) -> str:
        return self.filename

    @property
    def error_message(self) -> str | None:
        """Why indexing failed, in the active language; None when it did not."""
        if self.status != DocumentStatus.FAILED:
            return None
        return failure_text(self.error_code, self.error_places)

    @property
    def stored_name(self) -> str:
        """The file's name in the raw folder: never derived from the upload's name."""
        return f"{self.id}.{self.file_type}"

    @property
    def stored_path(self) -> Path:
        """Where the original lies (003: data/raw/{document_id}.{ext})."""
        return Path(settings.RAW_DIR) / self.stored_name


class JobStatus(models.TextChoices):
    """003 §6.2."""

    QUEUED = "queued", _("排队中")
    RUNNING = "running", _("运行中")
    SUCCEEDED = "succeeded", _("成功")
    FAILED = "failed", _("失败")


class IndexJobQuerySet(models.QuerySet["IndexJob"]):
    """Conditions on jobs that more than one place needs."""

    def running(self) -> Self:
        """Those that a worker has taken, whether it lives or not."""
        return self.filter(status=JobStatus.RUNNING)

    def waiting(self) -> Self:
        """Those that a worker may take."""
        return self.filter(status=JobStatus.QUEUED, document__status=DocumentStatus.PENDING)

    def held(self, job_id: uuid.UUID, lease: uuid.UUID) -> Self:
        """The job while `lease` holds it and its document is not being deleted."""
        return self.running().filter(
            pk=job_id, lease=lease, document__status=DocumentStatus.INDEXING
        )


class IndexJob(models.Model):
    """The one indexing job of a document; a retry uses it again.

    A worker that runs the job holds a lease: `lease` names the holder and `heartbeat_at` its last
    sign of life. Only the holder of the lease may change the job or the document.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    document = models.OneToOneField(Document, on_delete=models.CASCADE, related_name="job")
    status = models.CharField(max_length=10, choices=JobStatus, default=JobStatus.QUEUED)
    attempt_count = models.PositiveIntegerField(default=0)
    interruption_count = models.PositiveIntegerField(default=0)  # since the last end of the job
    lease = models.UUIDField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    last_error = models.TextField(null=True, blank=True)
    embedding_tokens = models.PositiveBigIntegerField(default=0)
    cost_micro = MicroYuanField(null=True, default=0)
    cost_source = models.CharField(max_length=20, default="embedded")
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = IndexJobQuerySet.as_manager()

    class Meta:
        db_table = "index_jobs"
        verbose_name = pgettext_lazy("one", "索引任务")
        verbose_name_plural = _("索引任务")
        indexes = [models.Index(fields=["status"], name="idx_index_jobs_status")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(status__in=JobStatus.values), name="chk_index_job_status"
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)


class Chunk(models.Model):
    """A part of a document's text; its id is the primary key of its vector too."""

    id = models.UUIDField(primary_key=True, editable=False)
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="chunks")
    order_index = models.PositiveIntegerField()
    content = models.TextField()
    page_number = models.PositiveIntegerField(null=True, blank=True)
    start_char = models.PositiveIntegerField()
    end_char = models.PositiveIntegerField()
    heading_path = models.TextField(blank=True, default="")
    char_count = models.PositiveIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "chunks"
        verbose_name = pgettext_lazy("one", "分块")
        verbose_name_plural = _("分块")
        ordering = ["document", "order_index"]
        constraints = [
            models.UniqueConstraint(
                fields=["document", "order_index"], name="uq_chunks_document_order"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.document_id}#{self.order_index}"

    def passage(self, score: float) -> Passage:
        """Return the chunk as a search found it; its document must be loaded."""
        return Passage(
            chunk_id=self.pk,
            document_id=self.document_id,
            filename=self.document.filename,
            order_index=self.order_index,
            page_number=self.page_number,
            start_char=self.start_char,
            end_char=self.end_char,
            heading_path=self.heading_path,
            content=self.content,
            score=score,
        )


class VectorIndex(models.Model):
    """How the vectors of the collection in use were made; one row.

    Compared with the configuration at start: another embedding model, dimension, chunk size or
    version of the texts needs `manage.py reindex`.
    """

    collection = models.CharField(max_length=64, unique=True)
    embedding_model = models.CharField(max_length=100)
    dimension = models.PositiveIntegerField()
    chunk_size = models.PositiveIntegerField()
    chunk_overlap = models.PositiveIntegerField()
    text_version = models.PositiveSmallIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "vector_indexes"
        verbose_name = pgettext_lazy("one", "向量索引")
        verbose_name_plural = _("向量索引")

    def __str__(self) -> str:
        return f"{self.collection} ({self.embedding_model}, {self.dimension})"
