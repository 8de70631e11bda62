"""Markdown: which lines are headings, and that embedded data is left out."""

from __future__ import annotations

import pytest

from apps.documents.reading.failures import EMPTY_FILE, EXTRACTION_LIMIT, UnreadableError
from apps.documents.reading.markdown import drop_embedded_data, find_headings, read_markdown
from apps.documents.reading.pages import ExtractedText, Heading, PageText
from apps.documents.reading.text import read_text

BASE64 = "vlmkeA26GcW0zdXIdgfg5IPkiPr0f/ZkoCDljY8OMS3bk+kPepqHYJM1P8En6UY6po1Fw+8H"


def test_headings_have_offset_level_and_plain_title() -> None:
    text = "# **年假** `code` [链接](https://x)\n正文\n\nSecond\n------\n### a <b>c</b> #\n"
    assert find_headings(text) == (
        Heading(0, 1, "年假 code 链接"),
        Heading(text.index("Second"), 2, "Second"),
        Heading(text.index("###"), 3, "a c"),
    )


@pytest.mark.parametrize(
    "text",
    [
        "```bash\n# not a heading\n```\n",
        "~~~~\n# no\n~~~\n# no\n~~~~",
        "```\n# an open fence runs to the end",
        "    # indented code",
        "<div>\n# html block\n</div>",
        "#hashtag",
        "####### seven",
        "#",
    ],
)
def test_what_only_looks_like_a_heading_is_none(text: str) -> None:
    assert find_headings(text) == ()


def test_leading_rule_is_not_front_matter() -> None:
    text = "---\n\n# A\n\n---\n\nb: c\n"
    assert find_headings(text) == (Heading(5, 1, "A"),)


def test_front_matter_is_left_out_and_its_title_leads_the_headings() -> None:
    source = '---\ntitle: "休假: 规定"\nauthor: 李\ntags:\n  - a\n---\n\n# 年假\n'
    text, headings = read_markdown(source)
    assert text == "\n# 年假\n"
    assert headings == (Heading(0, 0, "休假: 规定"), Heading(1, 1, "年假"))


def test_title_of_front_matter_that_is_a_heading_too_stands_once() -> None:
    _, headings = read_markdown("---\n# note\ntitle: Guide\n...\n# Guide\ntext\n")
    assert headings == (Heading(0, 1, "Guide"),)


def test_file_of_front_matter_alone_keeps_it() -> None:
    assert read_markdown("---\ntitle: x\n---\n") == ("---\ntitle: x\n---\n", ())
    assert read_markdown("---\ntitle: x\n---\n<!-- y -->\n") == ("---\ntitle: x\n---\n", ())


def test_file_of_a_comment_alone_says_nothing() -> None:
    with pytest.raises(UnreadableError, match="EMPTY_FILE"):
        read_text(b"<!-- draft: 12 EUR -->\n", markdown=True, max_text_chars=1000)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("a <!-- b --> c", "a  c"),
        ("a\n\n<!--\nb\n\n# c\n-->\n\nd", "a\n\n\n\nd"),
        ("a\n\n<!-- never closed\n\nb", "a\n\n"),
        ("a <!-- not closed in a line", "a <!-- not closed in a line"),
        ("`<!-- b -->` and ``~~c~~``", "`<!-- b -->` and ``~~c~~``"),
        ("```\n<!-- b -->\n~~c~~\n```\n", "```\n<!-- b -->\n~~c~~\n```\n"),
        ("    <!-- indented code -->\n", "    <!-- indented code -->\n"),
        ("<!-- a\n```\n-->\nb <!-- c -->", "\nb "),
        ("Price: ~~40~~ 30", "Price:  30"),
        ("<del>40</del> 30 <S class='x'>50</s>", " 30 "),
        ("a ~~ b ~~ c", "a ~~ b ~~ c"),
        ("~~a\n\nb~~", "~~a\n\nb~~"),
        ("~~~\n~~x~~\n~~~\n", "~~~\n~~x~~\n~~~\n"),
        ("`open ~~x~~", "`open "),
        ("a <!--> b <!-- x\n\ny --> c", "a  b  c"),
        ("- one\n  <!-- no end\n\nThe fee is 5.\n", "- one\n  \n\nThe fee is 5.\n"),
        ("<!--\n```\nx\n```\n-->\nText.\n", "\nText.\n"),
        ("<p>was <!-- x --> 5</p>\n", "<p>was  5</p>\n"),
        ("<del>\n\nIt was 40.\n\n</del>\n\nIt is 50.\n", "\n\nIt is 50.\n"),
        ("<del>no end\n\nIt is 50.\n", "<del>no end\n\nIt is 50.\n"),
        ("~~a ~~ b, `~~c~~`, \\~~d~~", "~~a ~~ b, `~~c~~`, \\~~d~~"),
    ],
)
def test_comments_and_struck_text_are_left_out_of_all_but_code(source: str, text: str) -> None:
    assert read_markdown(source)[0] == text


def test_marks_that_never_close_are_read_in_linear_time() -> None:
    source = "<!-- " * 30_000 + "~~x " * 30_000 + "`" * 30_000 + "<del>" * 30_000
    assert read_markdown("a " + source)[0] == "a " + source


def test_footnotes_stand_behind_the_paragraph_that_refers_to_them() -> None:
    source = (
        "Bags weigh 5 kg[^1] at most.\n\nPets stay out.\n\n"
        "[^1]: Members may bring\n    8 kg.\n[^other]: Nobody refers to this.\n"
    )
    assert read_markdown(source)[0] == (
        "Bags weigh 5 kg at most.\nMembers may bring 8 kg.\n\nPets stay out.\n\n"
        "Nobody refers to this.\n"
    )


def test_footnotes_stand_in_each_row_and_paragraph_that_refers_to_them() -> None:
    source = (
        "| Room | Price |\n|---|---|\n| Red | 40[^vat] |\n| Blue | 60 |\n\n"
        "Pets pay 5[^vat]; see [^else].\n\n[^vat]: Without tax.\n"
    )
    assert read_markdown(source)[0] == (
        "| Room | Price |\n|---|---|\n| Red | 40 (Without tax) |\n| Blue | 60 |\n\n"
        "Pets pay 5; see [^else].\nWithout tax.\n"
    )


def test_long_footnote_stands_at_its_first_reference_only() -> None:
    note = "word " * 80 + "end."
    text, _ = read_markdown(f"A[^n].\n\nB[^n].\n\n[^n]: {note}\n")
    assert text == f"A.\n{note}\n\nB.\n"


def test_footnote_in_code_stays() -> None:
    code = "```\n[^1]: x\n```\n"
    assert read_markdown(f"A[^1].\n\n{code}\n[^1]: Note.\n")[0] == f"A.\nNote.\n\n{code}"


def test_rows_without_outer_pipes_get_them() -> None:
    source = "Model | Price\n--- | ---\nK1 | 40\n| K2 | 50\n\nA or a | b.\n"
    text = "| Model | Price |\n| --- | --- |\n| K1 | 40 |\n| K2 | 50 |\n\nA or a | b.\n"
    assert read_markdown(source) == (
        text,
        (Heading(text.index("| K1"), 7, "Model | Price"), Heading(text.index("\nA or"), 7, "")),
    )


def test_header_over_the_limit_ends_with_a_whole_title() -> None:
    names = [f"Column {number} of many" for number in range(20)]
    text = f"|{'|'.join(names)}|\n|{'---|' * 20}\n|{'1|' * 20}\n"
    assert find_headings(text)[0].title == " | ".join(names[:10])


def test_rows_of_a_table_stand_under_its_header() -> None:
    text = "# Prices\n\n| Model | **Price** |\n|---|---|\n| K1 | 40 |\n| K2 | 50 |\n\nEnd.\n"
    assert find_headings(text) == (
        Heading(0, 1, "Prices"),
        Heading(text.index("| K1"), 7, "Model | Price"),
        Heading(text.index("\nEnd."), 7, ""),
    )


@pytest.mark.parametrize(
    ("text", "kept", "count"),
    [
        (f"![m](data:image/png;base64,{BASE64}) end", "![m](data:image/png;base64,…) end", 1),
        (
            f'<img src="data:image/gif;base64,{BASE64}\n  {BASE64}\n  Qk0=">\nend',
            '<img src="data:image/gif;base64,…">\nend',
            1,
        ),
        (f"[r]: data:image/webp;base64,{BASE64}\n", "[r]: data:image/webp;base64,…\n", 1),
        (f"url(data:image/svg+xml,{'%3Csvg' * 20})", "url(data:image/svg+xml,…)", 1),
        ("data:image/png;base64,AAAA is short", "data:image/png;base64,AAAA is short", 0),
        (f"a long word {BASE64}", f"a long word {BASE64}", 0),
    ],
)
def test_embedded_data_leaves_a_placeholder(text: str, kept: str, count: int) -> None:
    assert drop_embedded_data(text) == (kept, count)


def test_text_is_one_page_with_its_warnings() -> None:
    data = f"# 图\r\n![m](data:image/png;base64,{BASE64})\r\n".encode() + b"\0"
    assert read_text(data, markdown=True, max_text_chars=1000) == ExtractedText(
        (PageText(None, "# 图\n![m](data:image/png;base64,…)\n", (Heading(0, 1, "图"),)),),
        encoding="utf-8",
        warnings=(
            {"code": "nul_dropped", "count": 1},
            {"code": "embedded_data_dropped", "count": 1},
        ),
    )


def test_plain_text_has_no_headings_and_keeps_data() -> None:
    text = f"# title\ndata:image/png;base64,{BASE64}\x0cnext\u2028line"
    page = PageText(None, text.replace("\x0c", "\n").replace("\u2028", "\n"))
    extracted = read_text(text.encode(), markdown=False, max_text_chars=1000)
    assert extracted == ExtractedText((page,), encoding="utf-8")


def test_raw_html_stays_text() -> None:
    text = "<script>window.x=1</script>\nThe lobby closes at nine."
    assert read_text(text.encode(), markdown=True, max_text_chars=99).pages[0].text == text


@pytest.mark.parametrize(
    ("data", "limit", "code"),
    [(b"\xef\xbb\xbf \n", 10, EMPTY_FILE), (b"a" * 11, 10, EXTRACTION_LIMIT)],
)
def test_text_without_content_or_over_the_limit_fails(data: bytes, limit: int, code: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        read_text(data, markdown=False, max_text_chars=limit)
    assert caught.value.code == code
