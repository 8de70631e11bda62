"""Why a document was refused, not indexed or not searched, in words for the person."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from apps.core.errors import AppError, NotFoundError


class DocumentNotFoundError(NotFoundError):
    """There is no such document, or it belongs to another person."""

    code = "DOCUMENT_NOT_FOUND"
    message = _("找不到该文档，它可能已被删除。")


class DocumentNotFailedError(AppError):
    """Only failed documents can be retried."""

    code = "DOCUMENT_NOT_FAILED"
    http_status = 409
    message = _("只有索引失败的文档可以重试。")


class OriginalMissingError(AppError):
    """The stored original is gone from the data folder."""

    code = "ORIGINAL_MISSING"
    http_status = 404
    message = _("原文件已不在数据目录中，请删除该文档后重新上传。")


class StorageUnavailableError(AppError):
    """The file could not be written to the data folder."""

    code = "STORAGE_UNAVAILABLE"
    http_status = 503
    retryable = True
    message = _("无法保存文件：请检查数据目录的剩余空间和权限。")


class EmptyDocumentError(AppError):
    """Extraction and splitting left nothing to index."""

    code = "EMPTY_DOCUMENT"
    http_status = 422
    message = _("文档中没有可以索引的文字。")


class IndexInterruptedError(AppError):
    """Indexing was interrupted again and again."""

    code = "INDEX_INTERRUPTED"
    http_status = 500
    retryable = True
    message = _("索引多次被中断，请重试；若再次发生，请检查内存和磁盘空间。")


class VectorStoreUnavailableError(AppError):
    """The vector store cannot be reached or answered with an error."""

    code = "VECTOR_STORE_UNAVAILABLE"
    http_status = 503
    retryable = True
    message = _("向量库暂时不可用，请稍后重试。")


class VectorStoreLoadingError(VectorStoreUnavailableError):
    """The vector store is still loading its data."""

    code = "VECTOR_STORE_LOADING"
    message = _("向量库正在加载，请稍候再试。")


class VectorStoreLockedError(VectorStoreUnavailableError):
    """Another process holds the local folder of the vector store."""

    code = "VECTOR_STORE_LOCKED"
    message = _("向量库目录已被另一个进程占用：{path}")


class VectorDimensionError(AppError):
    """A vector does not fit the collection."""

    code = "DIMENSION_MISMATCH"
    http_status = 503
    message = _(
        "向量维度是 {actual}，而索引的维度是 {expected}。请运行 manage.py reindex 重建索引。"
    )


class InvalidVectorError(AppError):
    """A vector holds NaN or infinity, or is zero."""

    code = "EMBEDDING_INVALID"
    http_status = 502
    retryable = True
    message = _("向量模型返回了无效的结果，请重试。")


class IndexOutdatedError(AppError):
    """The index was made with another embedding model, dimension or chunk size."""

    code = "INDEX_OUTDATED"
    http_status = 503
    message = _("索引与当前配置不符（{difference}）。请运行 manage.py reindex 重建索引。")
