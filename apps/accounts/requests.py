"""The request of a page that only a known person opens."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from apps.core.web.http import PageRequest

if TYPE_CHECKING:
    from apps.accounts.models import User


class PersonRequest(PageRequest):
    """A request behind `login_required`: in local mode its user is the local person."""

    user: User

    async def auser(self) -> User:
        """Return the person, read off the event loop."""
        return cast("User", await super().auser())
