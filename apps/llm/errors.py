"""Why a model call failed, in words for the person; vendor errors are converted to these."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from apps.core.errors import AppError


class ModelUnavailableError(AppError):
    """The model's endpoint answered with an error, or its answer broke off."""

    code = "MODEL_UPSTREAM_ERROR"
    http_status = 502
    retryable = True
    message = _("模型服务返回错误，请稍后重试。")


class ModelUnreachableError(ModelUnavailableError):
    """No connection to the model's endpoint can be made; the code is the same for programs."""

    message = _(
        "连不上模型服务，请检查网络后重试。地址由管理员在 KBQA_CHAT_BASE_URL、"
        "KBQA_EMBEDDING_BASE_URL 或 KBQA_DASHSCOPE_BASE_URL 中设置。"
    )


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


class ModelKeyRejectedError(AppError):
    """The endpoint refused the key (401, or 403 without another reason)."""

    code = "MODEL_KEY_REJECTED"
    http_status = 502
    message = _("模型服务拒绝了密钥。请检查配置中的密钥与地址是否匹配。")


class ModelQuotaError(AppError):
    """The account is in arrears or its quota is used up; waiting does not help."""

    code = "MODEL_QUOTA_EXHAUSTED"
    http_status = 502
    message = _("模型服务的账户欠费或额度已用完，请充值或更换密钥。")


class ModelBusyError(AppError):
    """The endpoint still limits the rate (429) after the retries."""

    code = "MODEL_RATE_LIMITED"
    http_status = 502
    retryable = True
    message = _("模型服务正忙（请求过于频繁），请稍后重试。")


class ModelNotFoundError(AppError):
    """The endpoint knows no model, or no address, of the configured name (404)."""

    code = "MODEL_NOT_FOUND"
    http_status = 502
    message = _("模型服务中没有所配置的模型或地址，请检查模型名与地址。")


class ContextTooLongError(AppError):
    """The prompt is longer than the model's context window."""

    code = "CONTEXT_TOO_LONG"
    http_status = 502
    message = _("对话内容超过了模型的长度上限，请新建会话或缩短问题。")


class ContentFilteredError(AppError):
    """The vendor's content filter refused the prompt or cut the answer."""

    code = "CONTENT_FILTERED"
    http_status = 502
    message = _("模型服务的内容审查中止了回答，请换一种问法。")


class AnswerTruncatedError(AppError):
    """The answer reached the model's output limit and is not whole."""

    code = "ANSWER_TRUNCATED"
    http_status = 502
    retryable = True
    message = _("回答超过长度上限被截断，请缩小问题的范围后重试。")


class EmptyAnswerError(AppError):
    """The model ended without a text and without a tool call."""

    code = "EMPTY_ANSWER"
    http_status = 502
    retryable = True
    message = _("模型没有给出回答，请重试。")


class MalformedToolCallError(AppError):
    """The model called a tool with arguments that are not a JSON object, twice."""

    code = "MALFORMED_TOOL_CALL"
    http_status = 502
    retryable = True
    message = _("模型给出了无效的工具调用，请重试。")
