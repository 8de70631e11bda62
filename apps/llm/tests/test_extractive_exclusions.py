"""Sentences that cannot answer, questions that are several, and questions about sections."""

from __future__ import annotations

from dataclasses import replace

import pytest

from apps.llm.extractive.answer_kind import holds_amount, strict_kind
from apps.llm.extractive.codes import codes, is_about_other, one_each
from apps.llm.extractive.exclusions import possible_answers
from apps.llm.extractive.parts import parts_of
from apps.llm.extractive.sections import section_asked_for
from apps.llm.extractive.sentences import sentences_of
from apps.llm.tests.passages import passage

GUIDE = passage(
    "Second edition, printed in May 2022 by Trailfox Cycles.\n\n"
    "Fault codes\nCode F12 means that the motor is hot. Code F21 means a loose plug.\n\n"
    "Battery\nIts weight is 3.2 kilograms. It charges in 4 hours. Spare ones cost 300 euros.",
    filename="bike-guide.txt",
)
RULES = passage(
    "# 员工手册\n\n## 第一章 休假\n\n### 1.1 年假\n\n年假为八天。\n\n### 1.2 病假\n\n"
    "病假须有证明。\n\n## 第二章 报销与借款\n\n报销单当月提交。",
    filename="员工手册.md",
)
OTHER = passage("## 休假\n\n学生寒假四周。", filename="学生手册.md")


def possible(question: str) -> list[str]:
    return [s.text for s in possible_answers(question, sentences_of([GUIDE]))]


def test_sentence_about_another_code_is_no_answer() -> None:
    assert "Code F21 means a loose plug." not in possible("What does code F12 mean?")
    assert "Code F12 means that the motor is hot." in possible("What does f12 mean?")


def test_code_that_the_text_does_not_know_has_no_answer() -> None:
    assert possible("What does code F44 mean?") == []


def test_code_of_the_question_before_does_not_limit_a_follow_up() -> None:
    assert "Code F21 means a loose plug." in possible("What does F12 mean?\nWhich plug is loose?")


def test_weight_and_price_are_answered_by_such_amounts_only() -> None:
    assert possible("How heavy is the battery?") == ["Its weight is 3.2 kilograms."]
    assert possible("How much does a battery cost?") == ["Spare ones cost 300 euros."]


def test_imprint_is_an_answer_only_where_it_is_asked_for() -> None:
    imprint = "Second edition, printed in May 2022 by Trailfox Cycles."
    assert imprint in possible("When was the guide printed?")
    assert imprint not in possible("When does the battery charge?")


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How much does the machine weigh?", "weight"),
        ("这台机器多重？", "weight"),
        ("What is the price of the machine?", "price"),
        ("门票多少钱？", "price"),
        ("押金是多少？", "price"),
        ("费用由谁承担？", None),
        ("How much water does the tank hold?", None),
        ("价格由谁确定？", None),
    ],
)
def test_amount_is_asked_for_by_its_words(question: str, kind: str | None) -> None:
    assert strict_kind(question) == kind


@pytest.mark.parametrize(
    "text",
    ["旺季60元", "免费开放。", "成人票:30人民币", "It costs 12.", "Entry is free.", "$5 each"],
)
def test_price_is_known_by_currency_word_or_its_absence(text: str) -> None:
    assert holds_amount("price", text)


def test_codes_are_compared_within_their_series() -> None:
    assert codes("Errors e01, E-07 and 12; AB120, covid19") == {"E01", "E07", "AB120"}
    assert is_about_other("E04 means heat.", {"E01"})
    assert not is_about_other("E04 follows E01.", {"E01"})
    assert not is_about_other("Model AB120 is new.", {"E01"})


def test_question_for_several_codes_is_one_for_each() -> None:
    assert one_each("What do the codes E01, E04 and E07 mean?") == [
        "What do the codes E01 mean?",
        "What do the codes E04 mean?",
        "What do the codes E07 mean?",
    ]
    assert one_each("E01和E07是什么意思？") == ["E01是什么意思?", "E07是什么意思?"]
    assert one_each("What does E01 mean?") == ["What does E01 mean?"]


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "What do the codes E01 and E07 mean, and how long is the warranty?",
            [
                "What do the codes E01 mean",
                "What do the codes E07 mean",
                "how long is the warranty?",
            ],
        ),
        (
            "Who wrote Emma and Persuasion and when did she die?",
            ["Who wrote Emma and Persuasion", "when did she die?"],
        ),
        (
            "Which films did the actor and director make?",
            ["Which films did the actor and director make?"],
        ),
        ("试用期多长？密码多长？", ["试用期多长", "密码多长"]),
    ],
)
def test_each_asking_part_is_a_question(question: str, parts: list[str]) -> None:
    assert parts_of(question) == parts


def test_question_of_very_many_parts_is_one() -> None:
    question = "What do " + ", ".join(f"E{number:02}" for number in range(40)) + " mean?"
    assert parts_of(question) == [question]


def section(question: str) -> list[str]:
    return [s.text for s in section_asked_for(question, [OTHER, RULES])]


def test_question_about_a_section_is_answered_by_what_stands_under_it() -> None:
    assert section("《员工手册》里关于休假说了什么？") == ["年假为八天。", "病假须有证明。"]
    assert section("《员工手册》关于借款有什么规定？") == ["报销单当月提交。"]
    assert section("关于休假有哪些规定？") == ["学生寒假四周。"]
    assert section("《员工手册》里关于证明说了什么？") == ["病假须有证明。"]
    assert section("第二章讲了什么？") == []
    assert section("《员工手册》里报销这一章讲了什么？") == ["报销单当月提交。"]
    assert section("病假") == ["病假须有证明。"]


def test_english_section_of_a_text_without_markup_is_found() -> None:
    found = section_asked_for("What does “bike-guide” say about fault codes?", [GUIDE])
    assert [s.text for s in found] == [
        "Code F12 means that the motor is hot.",
        "Code F21 means a loose plug.",
    ]


def test_document_asked_about_as_a_whole_is_quoted_from_its_start() -> None:
    later = replace(passage("报销须审批。", filename="员工手册.md"), order_index=1)
    found = section_asked_for("《员工手册》说了什么？", [later, OTHER, RULES])
    assert [s.text for s in found] == [
        "年假为八天。",
        "病假须有证明。",
        "报销单当月提交。",
        "报销须审批。",
    ]


def test_question_of_another_form_or_about_no_heading_has_no_section() -> None:
    assert section("年假有几天？") == []
    assert section("《员工手册》里关于加班说了什么？") == []
