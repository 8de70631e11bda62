"""The catalogue of vendors and models: shown only, since the program reads its file."""

from django.contrib import admin

from apps.core.web.admin import AuditAdmin
from apps.llm.models import LLM, LLMFactory


@admin.register(LLMFactory)
class LLMFactoryAdmin(AuditAdmin):
    list_display = ["name", "request_url", "created_at", "deleted_at"]
    search_fields = ["name", "request_url"]
    ordering = ["name"]


@admin.register(LLM)
class LLMAdmin(AuditAdmin):
    list_display = ["model_code", "factory", "created_at", "deleted_at"]
    list_filter = ["factory"]
    list_select_related = ["factory"]
    search_fields = ["model_code", "factory__name"]
    ordering = ["model_code"]
