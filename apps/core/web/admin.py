"""How our tables look in the admin: read-only where they audit, and no slow full counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from django.contrib import admin
from django.core.paginator import Paginator
from django.utils.functional import cached_property

if TYPE_CHECKING:
    from django.db.models import Model, QuerySet
    from django.http import HttpRequest

COUNT_LIMIT = 10_000  # rows that a list counts at most; further pages exist but are not counted


class BoundedPaginator(Paginator):  # type: ignore[type-arg]
    """Counts at most `COUNT_LIMIT` rows, so that a list of a big table opens at once."""

    @cached_property
    def count(self) -> int:
        """The number of rows, or `COUNT_LIMIT` when there are more."""
        rows = cast("QuerySet[Model]", self.object_list)
        return rows.order_by()[:COUNT_LIMIT].count()


class AuditAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """A table that may be looked at, never changed by hand."""

    paginator = BoundedPaginator
    show_full_result_count = False
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse: rows come from the product alone."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Refuse: an audit is not edited."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Refuse: deletion goes through the product, which also cleans files and vectors."""
        return False
