"""The JSON API under /api/v1: routers of the apps, and errors in the one documented form."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from django.core.exceptions import RequestDataTooBig
from django.db import OperationalError
from django.http import Http404
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError

from apps.accounts.api import router as accounts_router
from apps.chat.api import router as chat_router
from apps.core.errors import (
    AppError,
    BadRequestError,
    DatabaseBusyError,
    NotFoundError,
    RequestTooLargeError,
    ValidationFailedError,
)
from apps.core.web.middleware import error_response
from apps.documents.web.api import router as documents_router

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

logger = logging.getLogger(__name__)

api = NinjaAPI(title="KBQA", version="1", urls_namespace="api", docs_url=None)
api.add_router("", documents_router)
api.add_router("", chat_router)
api.add_router("", accounts_router)


@api.exception_handler(AppError)
def answer_app_error(request: HttpRequest, error: AppError) -> HttpResponse:
    """Answer an AppError with its own status and body."""
    return error_response(request, error)


@api.exception_handler(ValidationError)
def answer_invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    """Answer 422 and name the fields; values are not repeated."""
    fields = [".".join(str(part) for part in item["loc"][1:]) for item in error.errors]
    detail = "; ".join(f"{f}: {e['msg']}" for f, e in zip(fields, error.errors, strict=True))
    return error_response(request, ValidationFailedError(detail=detail))


@api.exception_handler(HttpError)
def answer_http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
    """Answer what Ninja itself refuses: a body that is no JSON."""
    logger.info("refused by Ninja: %s", error)
    return error_response(request, BadRequestError())


@api.exception_handler(RequestDataTooBig)
def answer_too_large(request: HttpRequest, _error: RequestDataTooBig) -> HttpResponse:
    """Answer 413 for a body beyond DATA_UPLOAD_MAX_MEMORY_SIZE."""
    return error_response(request, RequestTooLargeError())


@api.exception_handler(Http404)
def answer_not_found(request: HttpRequest, _error: Http404) -> HttpResponse:
    """Answer 404 in the documented form."""
    return error_response(request, NotFoundError())


@api.exception_handler(OperationalError)
def answer_database_error(request: HttpRequest, error: OperationalError) -> HttpResponse:
    """Answer 503 when SQLite stays locked; anything else is an internal error."""
    if "locked" not in str(error):
        raise error
    logger.warning("database locked", exc_info=error)
    return error_response(request, DatabaseBusyError())
