"""The one person of local mode, whom a server without login acts for."""

from __future__ import annotations

from django.conf import settings

from apps.accounts.models import User

LOCAL_USERNAME = "local"


def local_user() -> User:
    """Return the person of local mode; made at first use, staff so that the admin opens."""
    user, _created = User.objects.get_or_create(
        username=LOCAL_USERNAME,
        defaults={"is_staff": True, "is_superuser": True, "password": "!"},
    )
    return user


def is_local_mode() -> bool:
    """Whether the server runs without login."""
    return bool(settings.LOCAL_MODE)
