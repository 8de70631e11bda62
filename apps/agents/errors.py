"""Why a run fails in the agents, beyond failures of models and search."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from apps.core.errors import AppError


class InvalidCitationError(AppError):
    """The answer cites a label that the evidence does not have."""

    code = "INVALID_CITATION"
    http_status = 502
    retryable = True
    message = _("回答引用了不存在的来源，已中止。请重试。")


class MissingCitationError(AppError):
    """The answer has no label although there is evidence."""

    code = "MISSING_CITATION"
    http_status = 502
    retryable = True
    message = _("回答没有标注来源，未被采用。请重试。")


class InvalidIntentError(AppError):
    """The intent stage's output does not meet its contract, also after the repair."""

    code = "INVALID_MODEL_OUTPUT"
    http_status = 502
    retryable = True
    message = _("模型的输出不符合要求，请重试。")


class ToolLimitError(AppError):
    """The main agent keeps calling its tool instead of answering."""

    code = "TOOL_LIMIT"
    http_status = 502
    retryable = True
    message = _("模型反复调用工具而没有回答，已中止。请重试或换一种问法。")
