"""Converts the errors of an OpenAI-compatible endpoint to ours.

Vendors' messages may hold keys, prompts or HTML, so nothing of them is kept: the log gets the
status, a sanitised error code and the request id.
"""

from __future__ import annotations

import logging
import re

import httpx2
import openai

from apps.core.errors import AppError
from apps.llm.errors import (
    ContentFilteredError,
    ContextTooLongError,
    ModelBusyError,
    ModelKeyRejectedError,
    ModelNotFoundError,
    ModelQuotaError,
    ModelTimeoutError,
    ModelUnavailableError,
    ModelUnreachableError,
)

logger = logging.getLogger(__name__)

# What a broken or foreign answer raises while it is read: transport, JSON, missing fields.
UPSTREAM_FAILURES = (
    openai.OpenAIError,
    httpx2.HTTPError,
    TimeoutError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
)

# Codes of DashScope, OpenAI, DeepSeek and Moonshot, from their error code pages.
_BY_CODE: tuple[tuple[re.Pattern[str], type[AppError]], ...] = (
    (
        re.compile(r"arrearage|insufficient_quota|insufficient.?balance|exceeded_current_quota"),
        ModelQuotaError,
    ),
    (re.compile(r"freetieronly|quota_?exhausted"), ModelQuotaError),
    (re.compile(r"data_?inspection|content_?(filter|policy)|risk_control"), ContentFilteredError),
    (
        re.compile(
            r"context.?(?:length|window|size)|max length exceeded|exceeds max length"
            r"|range of input length|model token limit|token length too long|prompt is too long"
        ),
        ContextTooLongError,
    ),
    (re.compile(r"invalid_?api_?key|incorrect api key"), ModelKeyRejectedError),
    (re.compile(r"model_?not_?found|model not exist"), ModelNotFoundError),
)  # fmt: skip
_BY_STATUS: dict[int, type[AppError]] = {
    401: ModelKeyRejectedError,
    402: ModelQuotaError,
    403: ModelKeyRejectedError,
    404: ModelNotFoundError,
    408: ModelTimeoutError,
    413: ContextTooLongError,
    429: ModelBusyError,
    504: ModelTimeoutError,
}
_SERVER_ERROR = 500
_SAFE_CODE = re.compile(r"[A-Za-z0-9_.\-]{1,64}\Z")


def app_error(error: BaseException) -> AppError:
    """Return our error for a vendor's, and log what may be logged of it."""
    if isinstance(error, AppError):
        return error
    converted = _class_of(error)()
    logger.warning(
        "model endpoint failed: %s as %s, status=%s code=%s request_id=%s",
        type(error).__name__,
        converted.code,
        getattr(error, "status_code", None),
        _safe(getattr(error, "code", None)),
        _safe(getattr(error, "request_id", None)),
    )
    return converted


def may_retry(error: BaseException) -> bool:
    """Whether the same request may succeed soon: 429, 5xx and connection errors, no time-outs."""
    if isinstance(error, openai.APITimeoutError):
        return False
    if isinstance(error, openai.APIStatusError):
        busy = error.status_code == openai.RateLimitError.status_code
        passing = busy or error.status_code >= _SERVER_ERROR
        return passing and _class_by_code(error) is None
    broken = openai.APIConnectionError | httpx2.NetworkError | httpx2.RemoteProtocolError
    return isinstance(error, broken)


def was_refused(error: BaseException) -> bool:
    """Whether no model worked for the request: an error status, or no connection."""
    if isinstance(error, openai.APITimeoutError):
        return False
    return isinstance(error, openai.APIStatusError | openai.APIConnectionError)


def _class_by_code(error: BaseException) -> type[AppError] | None:
    is_page = getattr(error, "status_code", 0) >= _SERVER_ERROR  # HTML holds any words
    parts = (getattr(error, "code", ""), getattr(error, "type", ""), "" if is_page else error)
    named = " ".join(str(part) for part in parts if part).lower()
    return next((cls for pattern, cls in _BY_CODE if pattern.search(named)), None)


def retry_after_s(error: BaseException) -> float | None:
    """Return the seconds that the endpoint asked to wait, or None."""
    response = getattr(error, "response", None)
    text = response.headers.get("retry-after", "") if response is not None else ""
    try:
        return max(0.0, float(text))
    except ValueError:
        return None


def _class_of(error: BaseException) -> type[AppError]:
    if isinstance(error, TimeoutError | openai.APITimeoutError | httpx2.TimeoutException):
        return ModelTimeoutError
    if _is_unreachable(error):
        return ModelUnreachableError
    named = _class_by_code(error) if isinstance(error, openai.APIError) else None
    status = getattr(error, "status_code", None)
    return named or _BY_STATUS.get(status or 0, ModelUnavailableError)


def _is_unreachable(error: BaseException) -> bool:
    """Whether no connection could be made; the SDKs keep the transport's error as the cause."""
    cause: BaseException | None = error
    while isinstance(cause, openai.APIConnectionError):
        cause = cause.__cause__
    return isinstance(cause, httpx2.ConnectError | httpx2.ProxyError | httpx2.UnsupportedProtocol)


def _safe(text: object) -> str:
    return text if isinstance(text, str) and _SAFE_CODE.match(text) else "-"
