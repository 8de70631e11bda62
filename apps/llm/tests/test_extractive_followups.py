"""What the embedded model makes of a conversation: follow-ups, new subjects, repetitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from apps.core.text.asking import without_preface
from apps.llm.tests.passages import evidence, passage, quoted
from apps.llm.tests.test_extractive_model import ALL, answer

if TYPE_CHECKING:
    from apps.llm.extractive.model import ExtractiveChatModel


def test_follow_up_is_answered_from_the_conversation(model: ExtractiveChatModel) -> None:
    history = ["星河项目第一年的预算是多少？", "项目第一年的预算为300万元。"]
    assert "450万元" in answer(model, "那第二年呢？", history=history)
    talk = ["Who founded the travel desk?", "It was founded by Maria Lopez."]
    assert "2015" in answer(model, "And when was it founded?", history=talk)


def test_new_subject_is_not_drowned_in_the_old_one(model: ExtractiveChatModel) -> None:
    history = ["星河项目第一年的预算是多少？", "项目第一年的预算为300万元。"]
    assert "十五天带薪年假" in answer(model, "年假有多少天？", history=history)


TALKS = {
    "zh": ["年假有多少天？", "员工每年享有十五天带薪年假，需提前三个工作日申请。 [S1]"],
    "en": ["Who founded the travel desk?", "It was founded in 2015 by Maria Lopez. [S1]"],
}


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("zh", "法国总统是谁?"),
        ("zh", "谁是董事长？"),
        ("zh", "公司地址在哪里？"),
        ("zh", "公司CEO是谁？"),
        ("zh", "那丧假呢？"),
        ("zh", "今天天气怎么样？"),
        ("en", "Who is the president of France?"),
        ("en", "How tall is the Eiffel tower?"),
        ("en", "What about its price?"),
        ("en", "And the dress code?"),
    ],
)
def test_conversation_does_not_vouch_for_an_absent_fact(
    model: ExtractiveChatModel, language: str, question: str
) -> None:
    assert answer(model, question, history=TALKS[language]) is None


def test_refused_question_is_refused_again(model: ExtractiveChatModel) -> None:
    history = [*TALKS["zh"], "法国总统是谁？", "资料中没有找到能够回答这个问题的内容。"]
    assert answer(model, "那法国总统是谁？", history=history) is None


@pytest.mark.parametrize(
    ("language", "question", "quoted"),
    [
        ("zh", "那病假呢？", "病假需要提供二级以上医院开具的证明。"),
        ("zh", "要提前几天申请？", "员工每年享有十五天带薪年假，需提前三个工作日申请。"),
        ("en", "When exactly?", "The travel desk was founded in 2015 by Maria Lopez."),
        ("en", "And why are late claims rejected?", "Late claims are rejected because"),
    ],
)
def test_follow_up_that_the_evidence_holds_is_answered(
    model: ExtractiveChatModel, language: str, question: str, quoted: str
) -> None:
    assert answer(model, question, history=TALKS[language]).startswith(quoted)


@pytest.mark.parametrize("message", ["再说一遍", "换个说法", "用一句话总结上面的回答"])
def test_answer_comes_again_with_its_citations(model: ExtractiveChatModel, message: str) -> None:
    found = evidence("年假有多少天？", ALL)  # the flow searches the question before it
    assert quoted(model.answer(message, found)) == answer(model, "年假有多少天？")


def test_greeting_changes_no_answer(model: ExtractiveChatModel) -> None:
    assert answer(model, "你好,年假有多少天？谢谢") == answer(model, "年假有多少天？")
    english = "Hello, who founded the travel desk?"
    assert answer(model, english) == "The travel desk was founded in 2015 by Maria Lopez. [S1]"


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("嗯嗯，真是和我想象的一样，具体地址你清楚吗？", "具体地址你清楚吗？"),
        ("Great. And how long does the warranty last?", "And how long does the warranty last?"),
        ("He asked, is version 2.5 out?", "is version 2.5 out?"),
        ("谢谢。还有吗？", "谢谢。还有吗？"),
        ("那第二年呢？", "那第二年呢？"),
        ("", ""),
    ],
)
def test_what_is_said_before_a_question_is_no_part_of_it(question: str, asked: str) -> None:
    assert without_preface(question) == asked


def test_preface_does_not_hide_a_follow_up_that_one_sentence_answers(
    model: ExtractiveChatModel,
) -> None:
    place = [passage("远山科技创办于1998年。\n地址：临江市云水区青石路12号", filename="公司.txt")]
    history = ["远山科技是哪年创办的？", "远山科技创办于1998年。 [S1]"]
    question = "嗯嗯，真是和我想象的一样，具体地址你清楚吗？"
    assert answer(model, question, place, history) == "地址：临江市云水区青石路12号 [S1]"
    absent = [passage("远山科技创办于1998年。董事长是林岚。", filename="公司.txt")]
    assert answer(model, question, absent, history) is None


MACHINES = passage(
    "# Robot R5\n\nThe R5 cleans for 90 minutes on one charge. It was introduced in 2021.\n\n"
    "# Robot M7\n\nThe M7 mops for 60 minutes on one charge. It was introduced in 2023.\n",
    filename="robots.md",
)
MUSEUM = passage(
    "# Harbour Museum\n\nIt opened in 1988 and is led by Peter Strand since 2015.\n",
    filename="museum.md",
    heading="Harbour Museum",
)
OFFICES = passage(
    "# 研发部\n\n研发部由陈宇负责，自2018年起。\n\n# 市场部\n\n市场部由林芳负责，自2021年起。\n",
    filename="部门.md",
)


@pytest.mark.parametrize(
    ("talk", "question", "quoted", "other"),
    [
        (["How long does R5 clean?", "90 minutes."], "When was it introduced?", "2021", "2023"),
        (["How long does the M7 mop?", "60 minutes."], "When was it introduced?", "2023", "2021"),
        (["市场部由谁负责？", "市场部由林芳负责。"], "从哪一年起？", "2021年起", "2018"),
        (["研发部由谁负责？", "研发部由陈宇负责。"], "从什么时候起？", "2018年起", "2021"),
        (["What is the Harbour Museum?", "A museum."], "Since when?", "since 2015", "2021"),
    ],
)
def test_follow_up_keeps_to_the_subject_that_was_spoken_of(model, talk, question, quoted, other):
    passages = [MACHINES, MUSEUM, OFFICES]
    said = answer(model, question, history=talk, passages=passages)
    assert (quoted in said, other in said) == (True, False)


def test_first_follow_up_with_a_pronoun_finds_the_past_of_an_irregular_verb(model):
    talk = ["When did the Harbour Museum open?", "It opened in 1988."]
    said = answer(model, "Who leads it?", history=talk, passages=[MACHINES, MUSEUM])
    assert said == "It opened in 1988 and is led by Peter Strand since 2015. [S1]"
