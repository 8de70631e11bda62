"""Which encodings are read, which are refused, and what is repaired."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.documents.reading.encodings import TextEncoding, decode, detect_encoding
from apps.documents.reading.failures import (
    CONTENT_MISMATCH,
    EMPTY_FILE,
    TEXT_NOT_DECODABLE,
    UnreadableError,
)
from apps.documents.reading.text import read_text

SIMPLIFIED = "员工每年享有十五天带薪年假，需提前三个工作日申请。"
TRADITIONAL = "會議室須於前一日預約，逾時取消。"
JAPANESE = "倉庫は平日七時四十五分に開きます。"
KOREAN = "오늘 회의는 세 시에 시작합니다. 모두 참석해 주세요."


PIECES = st.binary(max_size=8) | st.sampled_from(
    [
        SIMPLIFIED.encode(),
        SIMPLIFIED.encode("gb18030"),
        TRADITIONAL.encode("big5"),
        JAPANESE.encode("euc_jp"),
        SIMPLIFIED.encode("utf-16"),
        b"\xed\xa0\xbd",
        b"# title\n",
        b"---\n",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\0",
    ]
)


def detect(data: bytes, block_bytes: int = 7) -> TextEncoding:
    """Detect in blocks that cut characters apart."""
    return detect_encoding(
        lambda: (data[start : start + block_bytes] for start in range(0, len(data), block_bytes))
    )


def read(data: bytes) -> tuple[str, str]:
    encoding = detect(data)
    return encoding.name, decode(data, encoding)


def refusal(data: bytes) -> str:
    with pytest.raises(UnreadableError) as caught:
        detect(data)
    return caught.value.code


@pytest.mark.parametrize("text", [SIMPLIFIED, TRADITIONAL, JAPANESE, KOREAN, "é", "是", "😀"])
def test_utf8_is_read_whatever_the_script(text: str) -> None:
    assert read(text.encode()) == ("utf-8", text)


@pytest.mark.parametrize(
    ("codec", "mark"),
    [
        ("utf-8", b"\xef\xbb\xbf"),
        ("utf-16-le", b"\xff\xfe"),
        ("utf-16-be", b"\xfe\xff"),
        ("utf-32-le", b"\xff\xfe\0\0"),
        ("utf-32-be", b"\0\0\xfe\xff"),
    ],
)
def test_byte_order_mark_decides_and_is_dropped(codec: str, mark: bytes) -> None:
    text = SIMPLIFIED + " Invoice 5000 😀"
    assert read(mark + text.encode(codec)) == (codec, text)


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf16_without_mark_is_refused(codec: str) -> None:
    assert refusal("The warehouse opens at 07:45.\r\n".encode(codec)) == TEXT_NOT_DECODABLE
    assert refusal(SIMPLIFIED.encode(codec)) == TEXT_NOT_DECODABLE


@pytest.mark.parametrize(
    "text", [SIMPLIFIED, "log line ok\n" * 900 + SIMPLIFIED, "𠮷野家在东京开了一家新店"]
)
def test_gb18030_is_guessed(text: str) -> None:
    encoding = detect(text.encode("gb18030"))
    assert encoding == TextEncoding("gb18030", "gb18030", guessed=True)
    assert decode(text.encode("gb18030"), encoding) == text


def test_big5_is_not_read_as_gb18030() -> None:
    data = TRADITIONAL.encode("big5")
    assert data.decode("gb18030")
    encoding = detect(data)
    assert encoding == TextEncoding("big5", "cp950", guessed=True)
    assert decode(data, encoding) == TRADITIONAL


def test_traditional_text_in_gbk_is_read_as_gb18030() -> None:
    assert read(TRADITIONAL.encode("gbk")) == ("gb18030", TRADITIONAL)


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        (KOREAN, "cp949"),
        (JAPANESE, "cp932"),
        (JAPANESE, "euc_jp"),
        ("Größe über Straße, déjà vu à l'été", "cp1252"),
        ("Привет всем, сегодня собрание", "cp1251"),
        ("สวัสดีครับ วันนี้ประชุมเวลาบ่ายสามโมง", "cp874"),
        ("it’s “quoted”", "cp1252"),
    ],
)
def test_other_encodings_are_refused_and_never_guessed(text: str, codec: str) -> None:
    assert refusal(text.encode(codec)) == TEXT_NOT_DECODABLE


def test_gb18030_with_a_wrong_byte_is_refused() -> None:
    data = bytearray((SIMPLIFIED * 3).encode("gb18030"))
    data[10] = 0xFF
    assert refusal(bytes(data)) == TEXT_NOT_DECODABLE


@pytest.mark.parametrize(("codec", "cut_bytes"), [("utf-8", 2), ("gb18030", 1)])
def test_cut_last_character_is_dropped(codec: str, cut_bytes: int) -> None:
    data = (SIMPLIFIED + "完").encode(codec)[:-1]
    encoding = detect(data)
    assert encoding.cut_bytes == cut_bytes
    assert decode(data, encoding) == SIMPLIFIED


def test_few_broken_bytes_do_not_turn_utf8_into_mojibake() -> None:
    data = SIMPLIFIED.encode() + b"\xff" + SIMPLIFIED.encode()
    encoding = detect(data)
    assert (encoding.name, encoding.broken_bytes) == ("utf-8", 1)
    assert decode(data, encoding) == SIMPLIFIED * 2


def test_surrogate_pairs_in_utf8_are_joined() -> None:
    data = b"Rota \xed\xa0\xbd\xed\xb8\x80 is ready."
    encoding = detect(data)
    assert (encoding.name, encoding.broken_bytes) == ("utf-8", 0)
    assert decode(data, encoding) == "Rota 😀 is ready."


def test_lone_surrogate_in_utf8_is_dropped() -> None:
    data = b"Rota \xed\xa0\xbd is ready."
    encoding = detect(data)
    assert encoding.broken_bytes == 3
    assert decode(data, encoding) == "Rota  is ready."


def test_lone_nuls_are_counted() -> None:
    assert detect(b"Gate code rotates monthly.\0\0Ask security.\0").nul_bytes == 3


@pytest.mark.parametrize(
    "data", [bytes(range(256)) * 4, b"\0" * 500 + b"text" * 20, b"MZ\x90\0" + b"\x01\x02ab" * 99]
)
def test_binary_content_is_refused(data: bytes) -> None:
    assert refusal(data) in {CONTENT_MISMATCH, TEXT_NOT_DECODABLE}


@pytest.mark.parametrize("text", ["", " \n\t\r\n ", "\ufeff", "\u200b\u200e\u3000\u00a0"])
def test_nothing_visible_counts_as_empty(text: str) -> None:
    assert refusal(text.encode()) == EMPTY_FILE


@given(data=st.lists(PIECES, max_size=6).map(b"".join))
@settings(deadline=None, max_examples=300, derandomize=True)
def test_any_bytes_are_read_cleanly_or_refused(data: bytes) -> None:
    try:
        text = read_text(data, markdown=True, max_text_chars=10_000).pages[0].text
    except UnreadableError:
        return
    assert text.strip()
    assert text.encode().decode() == text
    assert not set(text) & set("\0\r\x07\ufeff")
