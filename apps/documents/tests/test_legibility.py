"""Language is told from gibberish, in every script."""

from __future__ import annotations

import pytest

from apps.documents.reading.legibility import GARBLED, SUSPICIOUS, garbling

ENGLISH = (
    "The warehouse on Maple Road opens at half past seven on weekdays and at nine on Saturdays. "
    "Invoice approvals above five thousand need two signatures, and spare keys are kept in the "
    "cabinet beside the lift. Visitors must sign the red book at the east gate before they enter."
)
CHINESE = (
    "员工每年享有十五天带薪年假，需提前三个工作日申请。"
    "差旅报销须在返回后七日内提交，逾期不予受理。"
)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        ENGLISH,
        CHINESE,
        "會議室須於前一日預約，逾時取消。",
        "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。",
        "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 大韓民國",
        "Все люди рождаются свободными и равными в своем достоинстве и правах.",
        "Strč prst skrz krk. Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv.",
        "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền.",
        "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق وقد وهبوا عقلا وضميرا",
        "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता प्राप्त है",
        "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ",
        "འགྲོ་བ་མིའི་རིགས་རྒྱུད་ཡོངས་ལ་སྐྱེས་ཙམ་ཉིད་ནས་ཆེ་མཐོངས་དང",
        "∀x∈ℝ: f(x)=∑ α_i β_i ≤ ∫ e^{-λt}dt ⇒ ‖x‖₂ ≤ √n·ε, ∂u/∂t = κ∇²u, σ²=Σ(xᵢ−μ)²/N",
        "第一章 概述 ........................ 1\n1.1 背景 ................... 2",
        "\uf0b7 First item\n\uf0b7 Second item\n\uf0d8 Third item",
        "see https://example.com/docs/first.page/index.html and /usr/lib/python3.12",
        "reimburse\x02ment form",
    ],
)
def test_language_is_legible(text: str) -> None:
    assert garbling(text) == 0.0


def _glyph_numbers(text: str) -> str:
    numbers: dict[str, int] = {}
    return "".join(chr(numbers.setdefault(char, len(numbers) + 1)) for char in text)


@pytest.mark.parametrize(
    "text",
    [
        _glyph_numbers(ENGLISH),
        _glyph_numbers(CHINESE),
        "".join(chr(ord(char) - 29) for char in ENGLISH),
        "".join(chr(ord(char) - 29) for char in ENGLISH if char != " "),
        CHINESE.encode("gbk").decode("latin-1"),
        CHINESE.encode().decode("latin-1"),
        CHINESE.encode("gbk").decode("cp950", "replace"),
        "".join(chr(0xE000 + ord(char) % 0x1800) for char in CHINESE),
        "".join(chr((ord(char) - 0x4E00 + 7777) % 20000 + 0x4E00) for char in CHINESE),
        "".join(chr(ord(char) * 7919 % 20000 + 300) for char in CHINESE),
        "(cid:12)(cid:7)(cid:99) (cid:3)(cid:44)(cid:5)",
        "/g12/g7/g99 /uni4E00/uni4E8C /one.os/zero.os",
        "\ufffd\ufffd\ufffd \ufffd ab",
    ],
)
def test_gibberish_is_garbled(text: str) -> None:
    assert garbling(text) >= GARBLED


@pytest.mark.parametrize(
    "text",
    [
        "Badge\x00 office\x00 is on level two.",
        "LayoutParserAUnifiedToolkitfor Deep Learning Based Document Image Analysis",
        "HTTP XML TCP SSL DNS SQL JSON HTML CSS PDF RTF DHCP LDAP SSH FTP SMTP NTP VPN RPC TLS",
    ],
)
def test_doubtful_text_is_suspicious_but_not_garbled(text: str) -> None:
    assert SUSPICIOUS <= garbling(text) < GARBLED
