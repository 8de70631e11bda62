"""What may be uploaded: size, type and content; the declared type never decides alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile

from apps.documents.errors import (
    ContentMismatchError,
    EmptyFileError,
    FileTooLargeError,
    InvalidFilenameError,
    TextNotDecodableError,
    UnsupportedFileTypeError,
)
from apps.documents.tests.pdf_files import text_pdf
from apps.documents.uploads.validation import AcceptedUpload, validate_upload

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper

    from apps.core.errors import AppError

ZIP = b"PK\x03\x04" + bytes(26) + b"word/document.xml"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(64))
GBK = "员工每年享有十五天带薪年假，需提前三个工作日申请。".encode("gb18030")


def validated(name: str, content: bytes, declared: str = "") -> AcceptedUpload:
    return validate_upload(SimpleUploadedFile(name, content, declared))


@pytest.mark.parametrize(
    ("name", "content", "declared", "accepted"),
    [
        ("a.pdf", text_pdf("x"), "application/pdf", ("pdf", "application/pdf")),
        ("a.PDF", text_pdf("x"), "application/octet-stream", ("pdf", "application/pdf")),
        ("a.pdf", b"HTTP/1.1 200 OK\r\n\r\n" + text_pdf("x"), "", ("pdf", "application/pdf")),
        ("a.md", "# 年假".encode(), "text/markdown", ("md", "text/markdown")),
        ("a.markdown", b"# T", "application/octet-stream", ("md", "text/markdown")),
        ("a.txt", "年假".encode(), "text/html", ("txt", "text/plain")),
        ("a.txt", b"plain", "image/png", ("txt", "text/plain")),
        ("a.txt", GBK, "text/plain", ("txt", "text/plain")),
        ("a.txt", b"MZ is a good start for a text", "", ("txt", "text/plain")),
        ("a.txt", b"\x1b[31mred\x1b[0m log", "", ("txt", "text/plain")),
    ],
)
def test_upload_whose_content_fits_its_name_is_accepted(
    name: str, content: bytes, declared: str, accepted: tuple[str, str]
) -> None:
    upload = validated(name, content, declared)
    facts = (upload.filename, upload.kind.code, upload.kind.mime_type, upload.size_bytes)
    assert facts == (name, *accepted, len(content))


@pytest.mark.parametrize(
    ("name", "content", "declared", "error"),
    [
        ("a.pdf", PNG, "application/pdf", ContentMismatchError),
        ("a.pdf", ZIP, "application/pdf", ContentMismatchError),
        ("a.pdf", ZIP + b"%PDF-1.7", "application/pdf", ContentMismatchError),
        ("a.pdf", b"just text", "application/pdf", ContentMismatchError),
        ("a.pdf", b" " * 1024 + b"%PDF-1.7", "application/pdf", ContentMismatchError),
        ("a.txt", text_pdf("x"), "text/plain", ContentMismatchError),
        ("a.txt", PNG, "text/plain", ContentMismatchError),
        ("a.md", ZIP, "text/markdown", ContentMismatchError),
        ("a.txt", b"MZ\x90\0\x03" + bytes(60) + b"This program", "", ContentMismatchError),
        ("a.txt", b"\x7fELF\x02\x01\x01" + bytes(99), "", ContentMismatchError),
        ("a.txt", b"\x00\x00\x00\x18ftypmp42" + b"a" * 99, "", ContentMismatchError),
        ("a.txt", b"{\\rtf1\\ansi text}", "text/plain", ContentMismatchError),
        ("a.txt", bytes(range(1, 32)) * 20, "text/plain", ContentMismatchError),
        ("a.txt", GBK, "image/jpeg", TextNotDecodableError),
        ("a.txt", "déjà vu".encode("cp1252"), "text/plain", TextNotDecodableError),
        ("a.txt", b"", "text/plain", EmptyFileError),
        ("a.pdf", b"", "application/pdf", EmptyFileError),
        ("a.txt", b" \r\n\t\x0b ", "text/plain", EmptyFileError),
        ("a.docx", ZIP, "application/zip", UnsupportedFileTypeError),
    ],
)
def test_upload_whose_content_does_not_fit_is_refused(
    name: str, content: bytes, declared: str, error: type[AppError]
) -> None:
    with pytest.raises(error):
        validated(name, content, declared)


def test_size_limit_is_that_of_the_environment(settings: SettingsWrapper) -> None:
    settings.ENV = settings.ENV.model_copy(update={"max_upload_mib": 1})
    assert validated("a.txt", b"a" * (1 << 20)).size_bytes == 1 << 20
    with pytest.raises(FileTooLargeError) as caught:
        validated("a.txt", b"a" * ((1 << 20) + 1))
    assert caught.value.text == "文件超过了 1 MiB 的上限，请拆分或压缩后再上传。"


def test_file_without_name_is_refused() -> None:
    with pytest.raises(InvalidFilenameError):
        validate_upload(ContentFile(b"text"))


def test_position_is_at_the_start_afterwards() -> None:
    upload = SimpleUploadedFile("a.txt", b"some text")
    validate_upload(upload)
    assert upload.read() == b"some text"
