"""Headings, tables of contents and imprints are known by their form and never quoted."""

from __future__ import annotations

import pytest

from apps.llm.extractive.headings import bare, contents_lines, is_imprint, plain_heading
from apps.llm.extractive.sentences import sentences_of, split
from apps.llm.tests.passages import passage

MANUAL = (
    "Trailfox E20 Bicycle – Owner's Guide\n"
    "Second edition, printed in May 2022 by Trailfox Cycles.\n\n"
    "Contents\n1. Battery ........ 2\n2. Fault codes ........ 3\n\n"
    "1. Battery\nThe battery holds 504 watt hours. It charges in 4 hours.\n\n"
    "2. Fault codes\nCode F12 means that the motor is too hot.\n\n"
    "Maintenance\nOil the chain every 200 kilometres."
)
DORMITORY = (
    "学生宿舍管理规定\n后勤处 2023年9月印\n\n目录\n第一章 入住\n第二章 用电\n\n"
    "第一章 入住\n每间宿舍住四人。\n\n第二章 用电\n每月免费用电30度。"
    "\n\n退宿\n毕业生须在六月前退宿。"
)


def stands_under(content: str) -> list[tuple[str, tuple[str, ...]]]:
    found = sentences_of([passage(content)])
    return [(s.text, s.headings) for s in found if not s.is_furniture]


def test_headings_of_plain_english_text_lead_their_sentences() -> None:
    assert stands_under(MANUAL) == [
        ("The battery holds 504 watt hours.", ("Battery",)),
        ("It charges in 4 hours.", ("Battery",)),
        ("Code F12 means that the motor is too hot.", ("Fault codes",)),
        ("Oil the chain every 200 kilometres.", ("Maintenance",)),
    ]


def test_headings_of_plain_chinese_text_lead_their_sentences() -> None:
    assert stands_under(DORMITORY) == [
        ("每间宿舍住四人。", ("第一章 入住",)),
        ("每月免费用电30度。", ("第二章 用电",)),
        ("毕业生须在六月前退宿。", ("退宿",)),
    ]


@pytest.mark.parametrize(
    ("content", "title"),
    [
        ("**Warranty**\n\nIt lasts two years.", "Warranty"),
        ("Warranty\n--------\nIt lasts two years.", "Warranty"),
        ("Section 3: Warranty\nIt lasts two years.", "Section 3: Warranty"),
        ("第三章：保修\n保修期两年。", "第三章：保修"),
        ("行为准则\n\n员工须遵守纪律。", "行为准则"),
    ],
)
def test_heading_may_be_bold_underlined_or_numbered_with_a_colon(content: str, title: str) -> None:
    assert [headings for _, headings in stands_under(content)] == [(title,)]


def test_marked_headings_go_on_from_the_heading_of_the_passage() -> None:
    content = "加班须审批。\n\n## 休假\n\n### 年假\n\n年假八天。\n\n## 报销\n\n当月报销。"
    found = sentences_of([passage(content, heading="手册 > 工时")])
    assert [(s.text, s.headings) for s in found] == [
        ("加班须审批。", ("手册", "工时")),
        ("年假八天。", ("手册", "休假", "年假")),
        ("当月报销。", ("手册", "报销")),
    ]


@pytest.mark.parametrize(
    "content",
    [
        "所需材料如下\n1. 身份证\n2. 户口本\n3. 照片\n\n申请人须在月底前提交。",
        "1. Open the box\n2. Remove the foil.\n3. Press the button.",
        "门票60元\n年假15天\n\n游客须提前一天预约。",
        "the pump overheated\nand stopped. It cools down.",
        "The tank is empty\nFill it with water.",
        "第一句话还没有说完就到了页面的边缘\n然后接着说。",
    ],
)
def test_items_facts_and_wrapped_lines_are_no_headings(content: str) -> None:
    lines = content.split("\n")
    assert [i for i in range(1, len(lines)) if plain_heading(lines, i)] == []


def test_table_of_contents_ends_at_a_gap_or_a_sentence() -> None:
    lines = [
        "目录",
        "第一章 入住",
        "第二章 用电",
        "",
        "正文",
        "Battery ...... 3",
        "Contents",
        "It ends.",
    ]
    assert contents_lines(lines) == {0, 1, 2, 5, 6}


def test_table_of_contents_is_set_apart_without_its_title() -> None:
    found = sentences_of([passage(DORMITORY)])
    assert [s.text for s in found if s.is_furniture] == [
        "后勤处 2023年9月印",
        "第一章 入住",
        "第二章 用电",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Revision 4, published June 2023 by Northlight Appliances.", True),
        ("© 2024 Northlight Appliances", True),
        ("后勤处 2023年9月印", True),
        ("版权所有，翻印必究。", True),
        ("The second edition of the cup was held in May 2022.", False),
        ("Version 2 has a larger tank.", False),
        ("该书由中华书局于2003年9月出版。", False),
    ],
)
def test_imprint_is_known_by_its_form(text: str, expected: bool) -> None:
    assert is_imprint(text) is expected


def test_heading_is_compared_without_numbering_and_page_number() -> None:
    titles = ["第二章 休假", "2.1 年假", "三、报销", "3. Error codes ...... 12", "Error Codes"]
    assert [bare(t) for t in titles] == ["休假", "年假", "报销", "errorcodes", "errorcodes"]


def test_label_that_begins_a_paragraph_is_no_part_of_the_later_sentences() -> None:
    content = (
        "游泳津贴标准：成人每月60元。泳帽由协会发放。报名须在每周一提交。\n\n其他事项另行通知。"
    )
    assert list(split(content)) == [
        ("游泳津贴标准：成人每月60元。", "row"),
        ("泳帽由协会发放。", "prose"),
        ("报名须在每周一提交。", "prose"),
        ("其他事项另行通知。", "prose"),
    ]


def test_label_lines_of_a_sheet_stay_whole() -> None:
    content = "门票：免费开放。图书馆须提前一天预约。\n电话：010-85007938"
    assert list(split(content)) == [
        ("门票：免费开放。图书馆须提前一天预约。", "row"),
        ("电话：010-85007938", "row"),
    ]
