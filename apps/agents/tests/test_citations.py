"""Labels are found, normalised and checked whatever way the answer is cut into pieces."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.agents.citations import CitationStream, without_labels

ALLOWED = ("S1", "S2", "S3")


def rewrite(pieces: list[str]) -> tuple[str, list[str], str | None]:
    stream = CitationStream(ALLOWED)
    shown = "".join(stream.feed(piece) for piece in pieces)
    return shown + stream.flush(), stream.cited, stream.invalid


@pytest.mark.parametrize(
    ("text", "shown", "cited"),
    [
        ("十五天[S1]。", "十五天[S1]。", ["S1"]),
        ("十五天[s1]。", "十五天[S1]。", ["S1"]),
        ("十五天【S1】。", "十五天[S1]。", ["S1"]),
        ("十五天［Ｓ１］。", "十五天[S1]。", ["S1"]),
        ("十五天[[S1]]。", "十五天[S1]。", ["S1"]),
        ("十五天[S01]。", "十五天[S1]。", ["S1"]),
        ("十五天[^S1]。", "十五天[S1]。", ["S1"]),
        ("a[S1, S2]b[S2；S3]", "a[S1][S2]b[S2][S3]", ["S1", "S2", "S3"]),
        ("a[S2、S1]", "a[S2][S1]", ["S2", "S1"]),
        ("a[S1 and S2]", "a[S1][S2]", ["S1", "S2"]),
        ("a[S1-S3]", "a[S1][S2][S3]", ["S1", "S2", "S3"]),
        ("a[S1–3]", "a[S1][S2][S3]", ["S1", "S2", "S3"]),
        ("a[来源：S1，S2]", "a[S1][S2]", ["S1", "S2"]),
        ("a [Source: S1]", "a [S1]", ["S1"]),
        ("a(S1)，b（S2）", "a[S1]，b[S2]", ["S1", "S2"]),
        ("a[S1][S1][S2]", "a[S1][S2]", ["S1", "S2"]),
        ("a[S1] b[S1]", "a[S1] b[S1]", ["S1"]),
        ("[S1](http://evil.example)", "[S1] (http://evil.example)", ["S1"]),
        ("[S1]: http://evil.example", "[S1] : http://evil.example", ["S1"]),
        ("[S1][text]", "[S1] [text]", ["S1"]),
        (r"a\[S1\]b", "a[S1]b", ["S1"]),
        (r"a\[S1]b[S2\]", "a[S1]b[S2]", ["S1", "S2"]),
        (r"a\\[S1]", r"a\\[S1]", ["S1"]),
        (r"a\`[S1]\`", r"a\`[S1]\`", ["S1"]),
        ("a[S\u200b1]b[\u2060S2\u00ad]", "a[S1]b[S2]", ["S1", "S2"]),
    ],
)
def test_label_variant_is_normalised(text: str, shown: str, cited: list[str]) -> None:
    assert rewrite([text]) == (shown, cited, None)


@pytest.mark.parametrize(
    "text",
    [
        "no label",
        "十五天[S1",
        "[S]",
        "[S3 bucket]",
        "[1]",
        "[source code]",
        "(S9)",
        "`a[S1]`",
        "``a`[S1]``",
        "a ```\nx[S2]\n``` b",
        "```py\nx[S2]\n```\n",
        "~~~\n[S1]\n~~~",
        "```\n[S1] never closed",
        "[S" + "9" * 900 + "]",
        r"\(S9\)",
        r"\[ x_1 = 2 \]",
        r"[**bold**] &#91;x&#93; [S`x`9]",
        "`[**S9**]`",
    ],
)
def test_text_without_a_label_stays_as_it_is(text: str) -> None:
    assert rewrite([text]) == (text, [], None)


@pytest.mark.parametrize(
    ("text", "shown", "invalid"),
    [
        ("十五天[S9]。", "十五天", "S9"),
        ("十五天[S0]", "十五天", "S0"),
        ("十五天[S-1]", "十五天", "S-1"),
        ("十五天[S99999999999999999999]。", "十五天", "S-1"),
        ("a[S1, S4]b", "a", "S4"),
        ("a[S3-S1]", "a", "S-1"),
        (r"a\[S9\]b", "a", "S9"),
        ("a【Ｓ９】b", "a", "S9"),
        ("a[S\u200b9]b", "a", "S9"),
        ("a[S1\u200d2]b", "a", "S12"),
        ("a[S1-S5]", "a", "S4"),
    ],
)
def test_unknown_label_stops_the_stream_before_it(text: str, shown: str, invalid: str) -> None:
    assert rewrite([text]) == (shown, [], invalid)


@pytest.mark.parametrize("text", ["a[**S9**]b", "a&#91;S9&#93;b", "a[S&#57;]b", "a[*S*9]b"])
def test_look_alike_of_an_unknown_label_is_found_at_the_end(text: str) -> None:
    assert rewrite([text, "[S1]"]) == (f"{text}[S1]", ["S1"], "S9")


def test_stray_backtick_hides_no_label_of_its_paragraph() -> None:
    assert rewrite(["5` 高[S1]\n\n尾"]) == ("5` 高[S1]\n\n尾", ["S1"], None)
    assert rewrite(["5` 高[S1]"]) == ("5` 高[S1]", ["S1"], None)


def test_label_after_code_counts() -> None:
    text = "```\nx[S2]\n```\n结论[S3]，`a`[S1]"
    assert rewrite([text]) == (text, ["S3", "S1"], None)


def test_half_label_is_held_back() -> None:
    stream = CitationStream(ALLOWED)
    assert [stream.feed(piece) for piece in ["十五天", "[", "S", "1", "]", "，"]] == [
        "十五天",
        "",
        "",
        "",
        "[S1]",
        "，",
    ]


FRAGMENTS = st.sampled_from(
    [
        *(
            "[S1]",
            "[s2, S3]",
            "【S1】",
            "[[S2]]",
            "(S1)",
            "[S9]",
            "[S",
            "]",
            "[",
            "S1",
            "来源：S2]",
        ),
        *("\\", "\u200b", "\\[", "*", "&#91;"),
        *("`", "``", "```", "~~~", "\n", "\n\n", "  ", "文字。", "text ", "(", ":", "-", ","),
    ]
)


@settings(max_examples=400, deadline=None)
@given(st.lists(FRAGMENTS, max_size=14).map("".join), st.randoms(use_true_random=False))
def test_result_does_not_depend_on_where_tokens_end(text: str, random: object) -> None:
    pieces, rest = [], text
    while rest:
        length = random.randint(1, 4)  # type: ignore[attr-defined]
        pieces.append(rest[:length])
        rest = rest[length:]
    assert rewrite(pieces) == rewrite([text])


def test_without_labels_removes_every_variant() -> None:
    assert without_labels("a[S1] b【s2】 c[S1, S9] d(S3) e[3]") == "a b c d e[3]"
    assert without_labels("a［Ｓ９］b\\[S9\\]c[S\u200b9]d") == "abcd"


def test_stray_backtick_holds_no_endless_line_back() -> None:
    stream = CitationStream(ALLOWED)
    held = len("`" + "x" * 4000) - sum(len(stream.feed(piece)) for piece in ["`", *["xx"] * 2000])
    assert held == 0


@pytest.mark.parametrize("text", ["[S[S1]9]", "[[S1]S9]", "[S[S[S1]2]9]", "[(S1)S9(S2)]"])
def test_rests_of_labels_make_no_new_one(text: str) -> None:
    assert not re.search(r"S\s?9\s?[\])]", without_labels(text))


@settings(max_examples=400, deadline=None)
@given(st.lists(FRAGMENTS, max_size=14).map("".join))
def test_text_without_labels_has_none(text: str) -> None:
    assert without_labels(without_labels(text)) == without_labels(text)
