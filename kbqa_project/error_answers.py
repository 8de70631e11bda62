"""Errors that no view of ours raised: JSON in the documented form under /api/, pages elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.views import defaults

from apps.core.errors import AppError, BadRequestError, NotFoundError, PermissionRefusedError
from apps.core.web.middleware import error_response, is_api

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 400, to a foreign Host header for example."""
    if is_api(request):
        return error_response(request, BadRequestError())
    return defaults.bad_request(request, exception)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 403."""
    if is_api(request):
        return error_response(request, PermissionRefusedError())
    return defaults.permission_denied(request, exception)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 404."""
    if is_api(request):
        return error_response(request, NotFoundError())
    return defaults.page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer 500; Django has logged the exception."""
    if is_api(request):
        return error_response(request, AppError())
    return defaults.server_error(request)
