"""Who a request acts for, the local person or whoever signed in, and how they like their pages."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import DatabaseError
from django.utils import timezone, translation
from django.utils.deprecation import MiddlewareMixin
from django.utils.functional import SimpleLazyObject

from apps.accounts.local_user import is_local_mode, local_user
from apps.accounts.profiles import page_language, stored_preferences
from apps.core.errors import LoginRequiredError
from apps.core.web.middleware import error_response, is_api

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

logger = logging.getLogger(__name__)

HEALTH_PATH = "/health"  # must answer without a database


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


class PreferencesMiddleware(MiddlewareMixin):
    """Shows pages in the zone and the language of the person's stored profile.

    A language chosen at the foot of a page (a cookie of that browser) goes before the profile, the
    profile before `Accept-Language`. The JSON API is left alone: its times are UTC, and a program
    names its language itself.
    """

    def process_request(self, request: HttpRequest) -> None:
        """Activate both; without a chosen zone the installation's counts."""
        timezone.deactivate()
        if is_api(request) or request.path == HEALTH_PATH:
            return
        try:
            user = request.user
            preferences = stored_preferences(user) if user.is_authenticated else {}
        except DatabaseError:
            logger.warning("the profile cannot be read", exc_info=True)
            return
        if "timezone" in preferences:
            timezone.activate(preferences["timezone"])
        language = page_language(preferences.get("interface_language", ""))
        if language is not None and settings.LANGUAGE_COOKIE_NAME not in request.COOKIES:
            translation.activate(language)
            request.LANGUAGE_CODE = language
