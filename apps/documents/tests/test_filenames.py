"""Names to show: a base name without anything hidden in it."""

from __future__ import annotations

import pytest

from apps.documents.errors import InvalidFilenameError, UnsupportedFileTypeError
from apps.documents.models import Document
from apps.documents.uploads.validation import FILENAME_MAX_CHARS, accepted_name


@pytest.mark.parametrize(
    ("sent", "name", "file_type"),
    [
        ("报告.pdf", "报告.pdf", "pdf"),
        ("notes.TXT", "notes.TXT", "txt"),
        ("readme.Markdown", "readme.Markdown", "md"),
        ("a.b.md", "a.b.md", "md"),
        ("x.txt ", "x.txt", "txt"),
        ("x.txt. .", "x.txt", "txt"),
        ("../../../etc/cron.d/x.txt", "x.txt", "txt"),
        ("..\\..\\windows\\x.txt", "x.txt", "txt"),
        ("C:\\Users\\a\\x.txt", "x.txt", "txt"),
        ("%2e%2e%2f%2e%2e%2fx.txt", "x.txt", "txt"),
        ("%252e%252e%255cx.txt", "x.txt", "txt"),
        ("100%25 sure.txt", "100%25 sure.txt", "txt"),
        ("a\r\nX-Evil: 1.txt", "a X-Evil: 1.txt", "txt"),
        ("tab\tname.txt", "tab name.txt", "txt"),
        ("esc\x1b[31m.txt", "esc[31m.txt", "txt"),
        ("nul\0.txt", "nul.txt", "txt"),
        ("\u202ecod\u2066.txt", "cod.txt", "txt"),
        ("\u200b.txt", "未命名.txt", "txt"),
        (".md", "未命名.md", "md"),
        ("lone\ud800.txt", "lone.txt", "txt"),
        ("cafe\u0301.txt", "café.txt", "txt"),
        ("CON.txt", "CON.txt", "txt"),
        ("<img src=x onerror=alert(1)>.txt", "<img src=x onerror=alert(1)>.txt", "txt"),
        ("O'Brien & Söhne.txt", "O'Brien & Söhne.txt", "txt"),
        ("💼🚀.md", "💼🚀.md", "md"),
    ],
)
def test_name_is_made_harmless_and_kept(sent: str, name: str, file_type: str) -> None:
    shown, kind = accepted_name(sent)
    assert (shown, kind.code) == (name, file_type)


@pytest.mark.parametrize(
    "sent",
    ["README", "report.pdf.exe", "a.docx", "txt", "x.txt/y.exe", "fdp\u202e.exe", "a.p\u0000df2"],
)
def test_other_extensions_are_refused(sent: str) -> None:
    with pytest.raises(UnsupportedFileTypeError):
        accepted_name(sent)


@pytest.mark.parametrize("sent", ["", " ", "..", "../..", "\u200b", "/", "\r\n"])
def test_nothing_left_of_the_name_is_refused(sent: str) -> None:
    with pytest.raises(InvalidFilenameError):
        accepted_name(sent)


def test_long_name_is_shortened_before_its_extension() -> None:
    name, kind = accepted_name("规" * 400 + ".markdown")
    assert (len(name), kind.code) == (FILENAME_MAX_CHARS, "md")
    assert name == "规" * (FILENAME_MAX_CHARS - 10) + "….markdown"


def test_shortening_does_not_part_a_letter_from_its_mark() -> None:
    stem = "a" * 249 + "x\u0323\u0327" + "b" * 40
    name, _kind = accepted_name(stem + ".txt")
    assert name == "a" * 249 + "….txt"


def test_name_of_flags_is_cut_between_two() -> None:
    name, _ = accepted_name("🇨🇭" * 200 + ".txt")
    assert name == "🇨🇭" * 125 + "….txt"


def test_limit_is_the_width_of_the_column() -> None:
    assert Document._meta.get_field("filename").max_length == FILENAME_MAX_CHARS
