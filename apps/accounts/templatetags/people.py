"""Whether people sign in, for the pages' frame."""

from __future__ import annotations

from django import template

from apps.accounts.local_user import is_local_mode

register = template.Library()


@register.simple_tag
def login_mode() -> bool:
    """Return whether the server runs with accounts."""
    return not is_local_mode()
