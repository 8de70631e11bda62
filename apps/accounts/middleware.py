"""Who a request acts for: the local person without login, else whoever signed in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.deprecation import MiddlewareMixin
from django.utils.functional import SimpleLazyObject

from apps.accounts.local_user import is_local_mode, local_user
from apps.core.errors import LoginRequiredError
from apps.core.middleware import error_response, is_api

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


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

        request.auser = auser  # type: ignore[assignment]


class ApiLoginMiddleware(MiddlewareMixin):
    """Answers 401 to whoever asks the JSON API without being signed in.

    It stands before all routes, so that a new one cannot forget it.
    """

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        """Return the refusal, or None to go on."""
        if is_local_mode() or not is_api(request) or request.user.is_authenticated:
            return None
        return error_response(request, LoginRequiredError())
