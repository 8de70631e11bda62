"""What was noticed about a document, in words for the person. Knows every recorded code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ENCODING_NAMES = {
    "gb18030": "GB18030",
    "big5": "Big5",
    "utf-16-le": "UTF-16 LE",
    "utf-16-be": "UTF-16 BE",
}
MAX_RANGES_SHOWN = 20
SAME_CONTENT = "same_content"


def warning_text(warning: Mapping[str, object]) -> str:
    """Return the sentence for a recorded warning, in the active language."""
    compose = _SENTENCES.get(str(warning.get("code")))
    return compose(warning) if compose else _("提取文本时有一处未知的提示。")


def _encoding_guessed(warning: Mapping[str, object]) -> str:
    name = str(warning["encoding"])
    return _(
        "文本没有声明编码，已按 {encoding} 解码；如有乱码，请另存为 UTF-8 后重新上传。"
    ).format(encoding=ENCODING_NAMES.get(name, name))


def _text_cut(_warning: Mapping[str, object]) -> str:
    return _("文件末尾的一个字符不完整，已略去；文件可能被截断。")


def _broken_bytes(warning: Mapping[str, object]) -> str:
    count = _count(warning)
    return ngettext(
        "文本中有 {count} 个无效字节，已略去。", "文本中有 {count} 个无效字节，已略去。", count
    ).format(count=count)


def _nul_dropped(warning: Mapping[str, object]) -> str:
    count = _count(warning)
    return ngettext(
        "文本中有 {count} 个空字符（NUL），已略去。",
        "文本中有 {count} 个空字符（NUL），已略去。",
        count,
    ).format(count=count)


def _embedded_data(warning: Mapping[str, object]) -> str:
    count = _count(warning)
    return ngettext(
        "已略去 {count} 处内嵌的图片或其他数据。", "已略去 {count} 处内嵌的图片或其他数据。", count
    ).format(count=count)


def _pages_without_text(warning: Mapping[str, object]) -> str:
    return _("第 {pages} 页没有可提取的文字，可能是扫描页，未被索引。").format(
        pages=_pages(warning)
    )


def _pages_garbled(warning: Mapping[str, object]) -> str:
    return _("第 {pages} 页提取出的文字是乱码，未被索引。").format(pages=_pages(warning))


def _pages_unreadable(warning: Mapping[str, object]) -> str:
    return _("第 {pages} 页已损坏或过于复杂，无法读取，未被索引。").format(pages=_pages(warning))


def _pdf_incomplete(_warning: Mapping[str, object]) -> str:
    return _("PDF 文件不完整（缺少结尾），可能缺少部分内容。")


def _same_content(warning: Mapping[str, object]) -> str:
    return _("与《{filename}》内容相同。").format(filename=warning.get("filename", ""))


def _count(warning: Mapping[str, object]) -> int:
    count = warning.get("count")
    return count if isinstance(count, int) else 0


def _pages(warning: Mapping[str, object]) -> str:
    """Return page ranges for reading: [[1, 3], [5, 5]] becomes 1–3, 5."""
    ranges = warning.get("pages")
    if not isinstance(ranges, list):
        return ""
    shown = [
        f"{first}" if first == last else f"{first}–{last}"
        for first, last in ranges[:MAX_RANGES_SHOWN]
    ]
    return ", ".join(shown) + (" …" if len(ranges) > MAX_RANGES_SHOWN else "")


_SENTENCES: dict[str, Callable[[Mapping[str, object]], str]] = {
    "encoding_guessed": _encoding_guessed,
    "text_cut": _text_cut,
    "broken_bytes_dropped": _broken_bytes,
    "nul_dropped": _nul_dropped,
    "embedded_data_dropped": _embedded_data,
    "pages_without_text": _pages_without_text,
    "pages_garbled": _pages_garbled,
    "pages_unreadable": _pages_unreadable,
    "pdf_incomplete": _pdf_incomplete,
    SAME_CONTENT: _same_content,
}
