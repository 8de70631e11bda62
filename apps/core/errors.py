"""The base of every error that a person may see. Details go to the log, never into these texts."""

from __future__ import annotations

from typing import ClassVar

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


class AppError(Exception):
    """One reason why something was refused or failed.

    Subclasses set `code` (stable, upper case), `http_status`, `retryable` and `message`: a sentence
    that a person can act on. `message` may hold `{name}` places, filled from the keyword arguments.
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
