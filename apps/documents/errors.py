"""Why a document was refused, not indexed or not searched, in words for the person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from apps.core.errors import AppError, NotFoundError

if TYPE_CHECKING:
    from collections.abc import Mapping


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


class FileTooLargeError(AppError):
    """The upload exceeds KBQA_MAX_UPLOAD_MIB."""

    code = "FILE_TOO_LARGE"
    http_status = 413
    message = _("文件超过了 {limit_mib} MiB 的上限，请拆分或压缩后再上传。")


class UnsupportedFileTypeError(AppError):
    """The name's extension is not one that can be read."""

    code = "UNSUPPORTED_FILE_TYPE"
    http_status = 415
    message = _("仅支持这些文件：{labels}（{extensions}）。")


class ContentMismatchError(AppError):
    """The content is not what the name's extension says."""

    code = "CONTENT_MISMATCH"
    http_status = 415
    message = _("文件内容与扩展名不符，请确认文件没有损坏或被改名。")


class EmptyFileError(AppError):
    """The file holds nothing to read."""

    code = "EMPTY_FILE"
    http_status = 422
    message = _("文件是空的，或只有空白字符。")


class TextNotDecodableError(AppError):
    """The text's encoding is unknown or ambiguous."""

    code = "TEXT_NOT_DECODABLE"
    http_status = 422
    message = _("无法确定文本的编码，请另存为 UTF-8 后再上传。")


class InvalidFilenameError(AppError):
    """Nothing is left of the name once the harmful characters are gone."""

    code = "INVALID_FILENAME"
    http_status = 422
    message = _("文件名无效，请改名后再上传。")


class PdfEncryptedError(AppError):
    """The PDF opens with a password only."""

    code = "PDF_ENCRYPTED"
    http_status = 422
    message = _("PDF 设有打开密码，请去除密码后重新上传。")


class PdfDamagedError(AppError):
    """No engine can open the PDF or any of its pages."""

    code = "PDF_DAMAGED"
    http_status = 422
    message = _("PDF 已损坏或不完整，请重新导出或重新下载后再上传。")


class PdfTextNotExtractableError(AppError):
    """The PDF has no text: it is a scan, or blank."""

    code = "PDF_TEXT_NOT_EXTRACTABLE"
    http_status = 422
    message = _("PDF 中没有可提取的文字，可能是扫描件或空白文件；目前不支持扫描件。")


class PdfTextGarbledError(AppError):
    """The PDF's fonts do not tell which characters they draw."""

    code = "PDF_TEXT_GARBLED"
    http_status = 422
    message = _("PDF 的字体缺少文字映射，提取结果是乱码。请重新导出 PDF，或上传原始文本。")


class PdfTooManyPagesError(AppError):
    """The PDF exceeds KBQA_MAX_PAGES."""

    code = "PDF_TOO_MANY_PAGES"
    http_status = 422
    message = _("PDF 超过了 {limit} 页的上限，请拆分后再上传。")


class ExtractionLimitError(AppError):
    """Extraction exceeded its memory or the limit of characters, or its process died."""

    code = "EXTRACTION_LIMIT"
    http_status = 422
    message = _("文件过大或过于复杂，提取文本时超出了限制。请拆分或重新导出后再上传。")


class ExtractionTimeoutError(AppError):
    """Extraction exceeded KBQA_EXTRACTION_TIMEOUT_S."""

    code = "EXTRACTION_TIMEOUT"
    http_status = 422
    retryable = True
    message = _("提取文本超时，请拆分文件或稍后重试。")


class ExtractionStoppedError(AppError):
    """The caller asked to stop, since the document is being deleted."""

    code = "EXTRACTION_STOPPED"
    http_status = 409
    retryable = True
    message = _("提取文本已取消。")


# The file itself is at fault, so that indexing it again ends the same way under any settings.
HOPELESS_CODES = frozenset(
    error.code
    for error in (
        ContentMismatchError,
        EmptyDocumentError,
        EmptyFileError,
        PdfDamagedError,
        PdfEncryptedError,
        PdfTextGarbledError,
        PdfTextNotExtractableError,
        TextNotDecodableError,
        UnsupportedFileTypeError,
    )
)


def error_of(code: str | None, places: Mapping[str, object]) -> AppError:
    """Return the error that has this code, the class of the place `class` where several have it.

    A code that no version knows now is an inner error.
    """
    kinds = [AppError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    known = [kind for kind in kinds if kind.code == code] or [AppError]
    chosen = next((kind for kind in known if kind.__name__ == places.get("class")), known[0])
    return chosen(**places)


def failure_text(code: str | None, places: Mapping[str, object]) -> str:
    """Return the sentence for a stored failure, in the active language.

    Rows of before 0.2 keep the sentence of their time as the place `sentence`.
    """
    return str(places["sentence"]) if "sentence" in places else error_of(code, places).text
