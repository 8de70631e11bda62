"""The base of every error that a person may see. Details go to the log, never into these texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django.utils.functional import Promise


class AppError(Exception):
    """One reason why something was refused or failed.

    Subclasses set `code` (stable, upper case), `http_status`, `retryable` and `message`: a
    sentence that a person can act on. `message` may hold `{name}` places, filled from the keyword
    arguments.
    """

    code: ClassVar[str] = "INTERNAL_ERROR"
    http_status: ClassVar[int] = 500
    retryable: ClassVar[bool] = False
    message: ClassVar[str | Promise] = _("出现内部错误，请稍后重试。")

    def __init__(self, **places: object) -> None:
        super().__init__(self.code)
        self.places = places

    @property
    def text(self) -> str:
        """The sentence for the person, in the active language."""
        return str(self.message).format(**self.places)


class NotFoundError(AppError):
    """The thing does not exist, or belongs to another person: the two look the same."""

    code = "NOT_FOUND"
    http_status = 404
    message = _("找不到该内容，它可能已被删除。")


class ForeignOriginError(AppError):
    """A state change was sent by a page of another site."""

    code = "FOREIGN_ORIGIN"
    http_status = 403
    message = _("拒绝来自其他网站的请求。")


class BadRequestError(AppError):
    """The request cannot be understood: its host is not ours or its body is no JSON."""

    code = "BAD_REQUEST"
    http_status = 400
    message = _("无法理解该请求。")


class LoginRequiredError(AppError):
    """The API was asked by somebody who is not signed in (login mode only)."""

    code = "LOGIN_REQUIRED"
    http_status = 401
    message = _("请先登录。")


class PermissionRefusedError(AppError):
    """The person may not do this."""

    code = "FORBIDDEN"
    http_status = 403
    message = _("没有权限执行该操作。")


class MethodNotAllowedError(AppError):
    """The address exists, but not for this HTTP method."""

    code = "METHOD_NOT_ALLOWED"
    http_status = 405
    message = _("该地址不支持此请求方法。")


class RequestTooLargeError(AppError):
    """The body of a request, without its files, is larger than any of ours."""

    code = "REQUEST_TOO_LARGE"
    http_status = 413
    message = _("请求内容过大。")


class ValidationFailedError(AppError):
    """The request's parameters are not of the documented form."""

    code = "VALIDATION_ERROR"
    http_status = 422
    message = _("请求参数有误：{detail}")


class DatabaseBusyError(AppError):
    """SQLite stayed locked by another writer longer than the busy time-out."""

    code = "DATABASE_BUSY"
    http_status = 503
    retryable = True
    message = _("数据库正忙，请稍后重试。")
