"""Documents, jobs and chunks for the audit."""

from decimal import Decimal

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from apps.core.fields import yuan
from apps.core.text.graphemes import opening
from apps.core.web.admin import AuditAdmin
from apps.documents.models import Chunk, Document, IndexJob, VectorIndex


class IndexJobInline(admin.StackedInline):  # type: ignore[type-arg]
    model = IndexJob
    extra = 0
    can_delete = False


@admin.register(Document)
class DocumentAdmin(AuditAdmin):
    list_display = [
        "filename", "owner", "file_type", "file_size", "page_count", "chunk_count", "status",
        "error_code", "created_at",
    ]  # fmt: skip
    list_filter = ["status", "file_type", "error_code", "created_at"]
    search_fields = ["filename", "id", "sha256"]
    list_select_related = ["owner"]
    inlines = [IndexJobInline]


@admin.register(IndexJob)
class IndexJobAdmin(AuditAdmin):
    list_display = [
        "document", "status", "attempt_count", "embedding_tokens", "cost_yuan", "cost_source",
        "heartbeat_at", "started_at", "finished_at", "last_error",
    ]  # fmt: skip
    list_filter = ["status", "cost_source", "created_at"]
    search_fields = ["document__filename", "document__id"]
    list_select_related = ["document"]

    @admin.display(description=_("费用（元）"))
    def cost_yuan(self, job: IndexJob) -> Decimal | None:
        """Return the cost in yuan; None when the model has no price."""
        return None if job.cost_micro is None else yuan(job.cost_micro)


@admin.register(Chunk)
class ChunkAdmin(AuditAdmin):
    list_display = ["document", "order_index", "page_number", "char_count", "opening"]
    search_fields = ["document__filename", "document__id", "id"]
    list_select_related = ["document"]
    ordering = ["document_id", "order_index"]

    @admin.display(description=_("开头"))
    def opening(self, chunk: Chunk) -> str:
        """Return the first characters of the text."""
        return opening(chunk.content, 60)


@admin.register(VectorIndex)
class VectorIndexAdmin(AuditAdmin):
    list_display = [
        "collection", "embedding_model", "dimension", "chunk_size", "chunk_overlap",
        "text_version", "created_at",
    ]  # fmt: skip
