"""Signs requests in as the local person when the server runs without login."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.deprecation import MiddlewareMixin
from django.utils.functional import SimpleLazyObject

from apps.accounts.local_user import is_local_mode, local_user

if TYPE_CHECKING:
    from django.http import HttpRequest


class LocalUserMiddleware(MiddlewareMixin):
    """Sets `request.user` to the local person, read from the database only when it is used."""

    def process_request(self, request: HttpRequest) -> None:
        """Replace the anonymous user in local mode; leave login mode alone."""
        if not is_local_mode():
            return
        request.user = SimpleLazyObject(local_user)  # type: ignore[assignment]

        async def auser() -> object:
            from asgiref.sync import sync_to_async  # noqa: PLC0415 - needed by async views only

            return await sync_to_async(local_user)()

        request.auser = auser  # type: ignore[method-assign, assignment]
