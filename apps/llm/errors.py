"""Why a model call failed, in words for the person; vendor errors are converted to these."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from apps.core.errors import AppError


class ModelUnavailableError(AppError):
    """The model's endpoint answered with an error or could not be reached."""

    code = "MODEL_UPSTREAM_ERROR"
    http_status = 502
    retryable = True
    message = _("模型服务返回错误，请稍后重试。")


class ModelTimeoutError(AppError):
    """The model did not answer in time."""

    code = "MODEL_TIMEOUT"
    http_status = 504
    retryable = True
    message = _("模型响应超时，请重试。")


class EmbeddingFailedError(AppError):
    """The embedding model's answer is unusable: count, NaN or zero vectors."""

    code = "EMBEDDING_INVALID"
    http_status = 502
    retryable = True
    message = _("向量模型返回了无效的结果，请重试。")


class EmbeddingDimensionError(AppError):
    """The embedding model's vectors have another dimension than configured."""

    code = "EMBEDDING_DIMENSION_MISMATCH"
    http_status = 502
    message = _("向量模型返回的维度是 {actual}，配置为 {expected}。请检查 KBQA_EMBEDDING_DIM。")


class EmbeddedModelUnsupportedError(AppError):
    """The embedded models do not run on this processor or Python."""

    code = "EMBEDDED_MODEL_UNSUPPORTED"
    http_status = 503
    message = _("内置模型需要支持 AVX2 的 x86-64 处理器；请配置模型服务的密钥。")
