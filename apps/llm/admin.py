"""The catalogue of vendors and models, editable."""

from django.contrib import admin

from apps.llm.models import LLM, LLMFactory


@admin.register(LLMFactory)
class LLMFactoryAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ["name", "request_url", "created_at", "deleted_at"]
    search_fields = ["name", "request_url"]


@admin.register(LLM)
class LLMAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ["model_code", "factory", "created_at", "deleted_at"]
    list_filter = ["factory"]
    list_select_related = ["factory"]
    search_fields = ["model_code", "factory__name"]
    raw_id_fields = ["factory"]
