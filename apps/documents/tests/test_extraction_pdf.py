"""PDFs through the extraction child: what is read, by which engine, and what is refused."""

from __future__ import annotations

import io
import zlib
from typing import TYPE_CHECKING

import pypdf
import pytest

from apps.documents import errors
from apps.documents.kinds.registry import installed
from apps.documents.reading.extract import extract
from apps.documents.reading.pages import ExtractedText, PageText
from apps.documents.tests.pdf_files import (
    SONG,
    UNMAPPED,
    assembled,
    pdf,
    shown,
    stream,
    text_pdf,
)

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_django.fixtures import SettingsWrapper

    from apps.core.errors import AppError

LINE = "The warehouse on Maple Road opens at 07:45 on weekdays."
CHINESE = "员工每年享有十五天带薪年假，需提前三个工作日申请。"


def extracted(folder: Path, content: bytes) -> ExtractedText:
    path = folder / "original"
    path.write_bytes(content)
    return extract(path, installed()["pdf"])


def texts(folder: Path, content: bytes) -> list[str]:
    return [page.text for page in extracted(folder, content).pages]


def refusal(folder: Path, content: bytes) -> type[AppError]:
    with pytest.raises(errors.AppError) as caught:
        extracted(folder, content)
    return type(caught.value)


def encrypted(content: bytes, user_password: str) -> bytes:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(content))
    writer.encrypt(user_password, "owner", algorithm="AES-256")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def test_pages_are_numbered_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "original"
    path.write_bytes(text_pdf("first page", "second page"))
    progress: list[tuple[int, int]] = []
    text = extract(
        path, installed()["pdf"], on_progress=lambda done, total: progress.append((done, total))
    )
    assert text == ExtractedText(
        (PageText(1, "first page"), PageText(2, "second page")), page_count=2
    )
    assert progress[-1] == (2, 2)


def test_chinese_in_a_font_that_is_not_embedded_is_read(tmp_path: Path) -> None:
    assert texts(tmp_path, text_pdf(CHINESE, font=SONG)) == [CHINESE]


def test_encrypted_file_with_empty_password_is_read(tmp_path: Path) -> None:
    assert texts(tmp_path, encrypted(text_pdf(LINE), "")) == [LINE]


def test_file_with_password_is_refused(tmp_path: Path) -> None:
    content = encrypted(text_pdf(LINE), "secret")
    assert refusal(tmp_path, content) == errors.PdfEncryptedError


def test_partly_scanned_file_is_read_with_a_warning(tmp_path: Path) -> None:
    text = extracted(tmp_path, text_pdf(LINE, "", "", "end"))
    assert [page.text for page in text.pages] == [LINE, "", "", "end"]
    assert text.warnings == ({"code": "pages_without_text", "pages": [[2, 3]]},)


def test_file_without_any_text_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path, text_pdf("", "")) == errors.PdfTextNotExtractableError


def test_glyph_numbers_are_refused_and_never_indexed(tmp_path: Path) -> None:
    glyphs = "".join(chr(number) for number in range(1, 60))
    assert refusal(tmp_path, text_pdf(glyphs, font=UNMAPPED)) == errors.PdfTextGarbledError


def test_garbled_page_is_left_out_with_a_warning(tmp_path: Path) -> None:
    mojibake = CHINESE.encode("gbk").decode("cp1252", "ignore")
    text = extracted(tmp_path, text_pdf(LINE, mojibake))
    assert [page.text for page in text.pages] == [LINE, ""]
    assert text.warnings == ({"code": "pages_garbled", "pages": [[2, 2]]},)


def test_page_that_pypdf_cannot_read_is_read_by_the_other_engine(tmp_path: Path) -> None:
    broken = shown(LINE) + b" BI /W 4 /H 4 /BPC 8 /CS /G ID \x00\x01 no end"
    with pytest.raises(pypdf.errors.PyPdfError):
        pypdf.PdfReader(io.BytesIO(pdf(broken))).pages[0].extract_text()
    assert texts(tmp_path, pdf(broken, shown("next"))) == [LINE, "next"]


def test_file_that_pypdf_cannot_open_is_read_by_the_other_engine(tmp_path: Path) -> None:
    content = text_pdf(LINE)
    without_end = content[: content.index(b"startxref")] + b"%%EOF\n"
    with pytest.raises(pypdf.errors.PyPdfError):
        pypdf.PdfReader(io.BytesIO(without_end))
    assert texts(tmp_path, without_end) == [LINE]


def test_wrong_cross_references_are_repaired(tmp_path: Path) -> None:
    content = b"HTTP/1.1 200 OK\r\n\r\n" + text_pdf(LINE)
    assert texts(tmp_path, content) == [LINE]


def test_cut_file_is_read_as_incomplete(tmp_path: Path) -> None:
    content = text_pdf(LINE, "second")
    text = extracted(tmp_path, content[: content.index(b"%%EOF")])
    assert text.warnings == ({"code": "pdf_incomplete"},)


@pytest.mark.parametrize("rest", [b"", bytes(range(256)) * 9])
def test_damaged_file_is_refused(tmp_path: Path, rest: bytes) -> None:
    assert refusal(tmp_path, b"%PDF-1.7\n" + rest) == errors.PdfDamagedError


def test_wrong_page_count_is_not_believed(tmp_path: Path) -> None:
    content = text_pdf(LINE).replace(b"/Count 1 ", b"/Count 999999 ")
    text = extracted(tmp_path, content)
    assert (text.page_count, [page.text for page in text.pages]) == (1, [LINE])


def test_form_that_draws_itself_ends(tmp_path: Path) -> None:
    content = shown(LINE) + b" /X1 Do"
    form = stream(
        content,
        b"/Type /XObject /Subtype /Form /BBox [0 0 595 842]"
        b" /Resources << /Font << /F1 3 0 R >> /XObject << /X1 5 0 R >> >>",
    )
    document = assembled(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Count 1 /Kids [4 0 R] >>",
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 6 0 R"
            b" /Resources << /Font << /F1 3 0 R >> /XObject << /X1 5 0 R >> >> >>",
            form,
            stream(b"/X1 Do"),
        ]
    )
    (text,) = texts(tmp_path, document)
    assert LINE in text


def test_stream_that_inflates_without_bound_is_refused(tmp_path: Path) -> None:
    packed = zlib.compress(b" " * (80 << 20), 9)
    content = pdf(packed, filters=b"/Filter /FlateDecode")
    assert refusal(tmp_path, content) == errors.ExtractionLimitError


def test_too_many_pages_are_refused(tmp_path: Path, settings: SettingsWrapper) -> None:
    settings.ENV = settings.ENV.model_copy(update={"max_pages": 2})
    assert texts(tmp_path, text_pdf("1", "2")) == ["1", "2"]
    with pytest.raises(errors.PdfTooManyPagesError) as caught:
        extracted(tmp_path, text_pdf("1", "2", "3"))
    assert caught.value.text == "PDF 超过了 2 页的上限，请拆分后再上传。"


def test_too_much_text_is_refused(tmp_path: Path, settings: SettingsWrapper) -> None:
    settings.ENV = settings.ENV.model_copy(update={"max_text_chars": len(LINE)})
    assert texts(tmp_path, text_pdf(LINE)) == [LINE]
    assert refusal(tmp_path, text_pdf(LINE, "x")) == errors.ExtractionLimitError
