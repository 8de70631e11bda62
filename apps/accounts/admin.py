"""People, with Django's own forms."""

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin

from apps.accounts.models import Profile, User
from apps.core.web.admin import AuditAdmin

admin.site.register(User, UserAdmin)


@admin.register(Profile)
class ProfileAdmin(AuditAdmin):
    list_display = ["user", "username", "updated_at"]
    search_fields = ["username", "user__username"]
    list_select_related = ["user"]
    ordering = ["-updated_at"]
