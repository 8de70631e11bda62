"""Each recorded warning is a sentence."""

from __future__ import annotations

import pytest

from apps.documents.warnings import MAX_RANGES_SHOWN, warning_text


@pytest.mark.parametrize(
    ("warning", "sentence"),
    [
        (
            {"code": "encoding_guessed", "encoding": "gb18030"},
            "文本没有声明编码，已按 GB18030 解码；如有乱码，请另存为 UTF-8 后重新上传。",
        ),
        ({"code": "text_cut"}, "文件末尾的一个字符不完整，已略去；文件可能被截断。"),
        ({"code": "broken_bytes_dropped", "count": 3}, "文本中有 3 个无效字节，已略去。"),
        ({"code": "nul_dropped", "count": 1}, "文本中有 1 个空字符（NUL），已略去。"),
        ({"code": "embedded_data_dropped", "count": 2}, "已略去 2 处内嵌的图片或其他数据。"),
        (
            {"code": "pages_without_text", "pages": [[2, 3], [9, 9]]},
            "第 2–3, 9 页没有可提取的文字，可能是扫描页，未被索引。",
        ),
        ({"code": "pages_garbled", "pages": [[1, 1]]}, "第 1 页提取出的文字是乱码，未被索引。"),
        (
            {"code": "pages_unreadable", "pages": [[4, 4]]},
            "第 4 页已损坏或过于复杂，无法读取，未被索引。",
        ),
        ({"code": "pdf_incomplete"}, "PDF 文件不完整（缺少结尾），可能缺少部分内容。"),
        ({"code": "of a later version"}, "提取文本时有一处未知的提示。"),
    ],
)
def test_warning_is_told_in_a_sentence(warning: dict[str, object], sentence: str) -> None:
    assert warning_text(warning) == sentence


def test_many_page_ranges_are_shortened() -> None:
    pages = [[number, number] for number in range(1, 99, 2)]
    text = warning_text({"code": "pages_garbled", "pages": pages})
    assert f", {2 * MAX_RANGES_SHOWN - 1} … 页" in text
