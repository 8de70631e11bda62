"""Why a question was refused or a run ended without an answer."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from apps.core.errors import AppError


class EmptyQuestionError(AppError):
    """The question holds nothing that can be read."""

    code = "EMPTY_QUESTION"
    http_status = 422
    message = _("请输入问题。")


class QuestionTooLongError(AppError):
    """The question is longer than the configured limit."""

    code = "QUESTION_TOO_LONG"
    http_status = 422
    message = _("问题过长：最多 {limit} 个字符，实际 {actual} 个。")


class RunInProgressError(AppError):
    """The session already answers a question."""

    code = "RUN_IN_PROGRESS"
    http_status = 409
    retryable = True
    message = _("该会话正在生成回答，请等待完成或先停止。")


class NothingToResendError(AppError):
    """Only a question whose answer failed can be sent again."""

    code = "NOTHING_TO_RESEND"
    http_status = 409
    message = _("只有失败的回答可以重新发送。")


class RunStoppedError(AppError):
    """The person pressed Stop."""

    code = "STOPPED"
    http_status = 409
    retryable = True
    message = _("已停止生成。")


class RunAbandonedError(AppError):
    """The last reader of the stream left."""

    code = "DISCONNECTED"
    http_status = 499
    retryable = True
    message = _("连接已断开，回答未完成。请重新发送。")


class RunTimeoutError(AppError):
    """The whole run took longer than allowed."""

    code = "RUN_TIMEOUT"
    http_status = 504
    retryable = True
    message = _("回答超时，请重试。")


class RunInterruptedError(AppError):
    """The server stopped or restarted during the answer."""

    code = "INTERRUPTED"
    http_status = 503
    retryable = True
    message = _("服务重启，回答被中断。请重新发送。")


class SessionDeletedError(AppError):
    """The session was deleted during the answer."""

    code = "SESSION_DELETED"
    http_status = 404
    message = _("会话已删除。")
