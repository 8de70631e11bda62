"""How often a password may be guessed: django-axes with our limits, our page and our address.

Failures are counted in the database, which all processes share, by the name that was typed;
whether such an account exists is never asked.
"""

from __future__ import annotations

from datetime import timedelta
from http import HTTPStatus
from ipaddress import ip_address
from math import ceil
from typing import TYPE_CHECKING

from axes.handlers.database import AxesDatabaseHandler
from axes.helpers import get_cool_off
from django.conf import settings
from django.db.models import Max, Sum
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from apps.core.errors import AppError
from apps.core.web.middleware import error_response

if TYPE_CHECKING:
    from datetime import datetime

    from django.http import HttpRequest, HttpResponse

WIDE_FACTOR = 10  # a whole account or address is locked after so many times the failures of a pair


class TooManySignInsError(AppError):
    """The account or the address had too many failures; the right password is refused too."""

    code = "TOO_MANY_SIGN_INS"
    http_status = HTTPStatus.TOO_MANY_REQUESTS
    retryable = True
    message = _("登录失败次数过多，请在 {minutes} 分钟后重试。")


class SignInLimits(AxesDatabaseHandler):  # type: ignore[misc]
    """Locks a name at an address first, and a name or an address as a whole much later."""

    def get_failures(
        self, request: HttpRequest, credentials: dict[str, object] | None = None
    ) -> int:
        """Return the failures of the pair, or a tenth of those of its name or address if more."""
        pair, *wide = (
            attempts.aggregate(sum=Sum("failures_since_start"))["sum"] or 0
            for attempts in self.get_user_attempts(request, credentials)
        )
        return max(pair, *(failures // WIDE_FACTOR for failures in wide))

    def reset_user_attempts(
        self, request: HttpRequest, credentials: dict[str, object] | None = None
    ) -> int:
        """Forget the failures of the pair alone: a sign-in clears no stranger's guesses."""
        return int(self.filter_user_attempts(request, credentials)[0].delete()[0])

    def wait(self, request: HttpRequest, credentials: dict[str, object] | None) -> timedelta:
        """Return after which time at most no failure counts any more."""
        now, cool_off = timezone.now(), get_cool_off(request) or timedelta()
        latest: datetime = max(
            attempts.aggregate(latest=Max("attempt_time"))["latest"] or now
            for attempts in self.get_user_attempts(request, credentials)
        )
        return latest + cool_off - now


def refuse(
    request: HttpRequest, _response: HttpResponse | None, credentials: dict[str, object] | None
) -> HttpResponse:
    """Answer 429 with the time to wait in seconds, on the pages' login and the admin's."""
    seconds = ceil(SignInLimits().wait(request, credentials).total_seconds())
    response = error_response(request, TooManySignInsError(minutes=ceil(seconds / 60)))
    response["Retry-After"] = str(seconds)
    return response


def client_address(request: HttpRequest) -> str | None:
    """Return who is asking: the sender, or whom the outermost of our proxies names as such.

    Each proxy adds one entry at the end of `X-Forwarded-For`; what stands before ours was written
    by the client.
    """
    sender: str | None = request.META.get("REMOTE_ADDR")
    proxies = settings.ENV.proxy_count
    named = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
    if not proxies or len(named) < proxies:
        return sender
    try:
        return str(ip_address(named[-proxies].strip()))
    except ValueError:
        return sender
