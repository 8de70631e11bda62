"""What the embedded model answers from small documents: manuals and rules without markup."""

from __future__ import annotations

import pytest

from apps.llm.extractive.answer_selection import compose
from apps.llm.extractive.sentence_vectors import SentenceVectors
from apps.llm.factory import embedding_model
from apps.llm.ports import QuotedAnswer
from apps.llm.tests.passages import evidence, passage, quoted

BICYCLE = [
    passage(
        "Trailfox E20 Bicycle – Owner's Guide\n"
        "Second edition, printed in May 2022 by Trailfox Cycles.\n"
        "1. Battery\nThe battery holds 504 watt hours and charges in 4.5 hours. "
        "Its weight is 3.2 kilograms.\n"
        "2. Fault codes\nCode F12 means that the motor is too hot. Code F21 means that the brake "
        "sensor is loose. Code F33 means a worn battery; replace it.",
        filename="bike-guide.pdf",
    ),
    passage(
        "3. Guarantee\nThe guarantee lasts 36 months for the frame. It does not cover tyres.\n"
        "Maintenance\nOil the chain every 200 kilometres. Tighten the bolts once a month.",
        filename="bike-guide.pdf",
    ),
]
CLUB = [
    passage(
        "第一章 津贴\n游泳津贴标准：成人每月不超过60元，儿童每月不超过40元。泳帽由协会发放。"
        "报名须在每周一提交。\n\n第二章 场馆\n场馆周一至周五开放。羽毛球馆须提前一天预约。",
        filename="俱乐部规定.txt",
    )
]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What does fault code F12 mean?", "Code F12 means that the motor is too hot. [S1]"),
        (
            "What do the fault codes F12 and F33 mean, and how long is the guarantee?",
            "Code F12 means that the motor is too hot. [S1] "
            "Code F33 means a worn battery; replace it. [S1] "
            "The guarantee lasts 36 months for the frame. [S2]",
        ),
        ("What does fault code F44 mean?", None),
        ("How much does the battery weigh?", "Its weight is 3.2 kilograms. [S1]"),
        ("How much does the battery cost?", None),
        ("How long is the guarantee?", "The guarantee lasts 36 months for the frame. [S1]"),
        (
            "What does “bike-guide” say about Maintenance?",
            "Oil the chain every 200 kilometres. [S2] Tighten the bolts once a month. [S2]",
        ),
        (
            "Who printed the guide?",
            "Second edition, printed in May 2022 by Trailfox Cycles. [S2]",
        ),
    ],
)
def test_manual_is_quoted_without_headings_and_other_codes(question: str, answer: str) -> None:
    vectors = SentenceVectors(embedding_model())
    assert quoted(compose(question, evidence(question, BICYCLE), vectors)) == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("游泳津贴是多少？", "游泳津贴标准：成人每月不超过60元，儿童每月不超过40元。 [S1]"),
        ("泳帽由谁发放？", "泳帽由协会发放。 [S1]"),
        (
            "《俱乐部规定》里关于场馆说了什么？",
            "场馆周一至周五开放。 [S1] 羽毛球馆须提前一天预约。 [S1]",
        ),
    ],
)
def test_rules_are_quoted_by_sentence_and_section(question: str, answer: str) -> None:
    vectors = SentenceVectors(embedding_model())
    assert quoted(compose(question, evidence(question, CLUB), vectors)) == answer


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("When does the pool open in winter?", "The pool opens at 9:00. [S1]"),
        ("When does the pool open in summer?", "The pool opens at 7:00. [S1]"),
    ],
)
@pytest.mark.parametrize("heading", ["## {}\n\n", "{}\n---------\n\n"])
def test_section_that_the_question_names_answers_alone(heading, question, said):
    summer, winter = heading.format("In summer"), heading.format("In winter")
    text = f"{summer}The pool opens at 7:00.\n\n{winter}The pool opens at 9:00.\n"
    found = evidence(question, [passage(text)])
    assert quoted(compose(question, found, SentenceVectors(embedding_model()))) == said


@pytest.mark.parametrize(
    "question", ["How much is the deposit?", "How much is the de\u200bposit?"]
)
def test_invisible_characters_hide_no_answer(question):
    text = "The de\u00adpo\u200bsit is 300 eu\u2060ros. The keys are at the recep\u00adtion desk."
    found = evidence(question, [passage(text)])
    said = quoted(compose(question, found, SentenceVectors(embedding_model())))
    assert said == "The deposit is 300 euros. [S1]"


TRADITIONAL = "押金為三百元，退房時退還。早餐從七點開始供應。停車場在後院，須提前預訂。"
SIMPLIFIED = "押金为三百元，退房时退还。早餐从七点开始供应。停车场在后院，须提前预订。"


@pytest.mark.parametrize("text", [TRADITIONAL, SIMPLIFIED])
@pytest.mark.parametrize(
    ("questions", "place"),
    [
        (("早餐幾點開始供應？", "早餐几点开始供应？"), 1),
        (("停車場在哪裡？", "停车场在哪里？"), 2),
        (("押金是多少錢？", "押金是多少钱？"), 0),
    ],
)
def test_chinese_of_both_scripts_is_answered_as_it_is_written(text, questions, place):
    sentence = f"{text.split('。')[place]}。 [S1]"
    for question in questions:
        found = evidence(question, [passage(text, filename="客房.txt")])
        assert quoted(compose(question, found, SentenceVectors(embedding_model()))) == sentence


def test_part_without_evidence_is_named_in_the_script_of_the_question():
    question = "早餐幾點開始供應？滑雪課多少錢？"
    found = evidence(question, [passage(SIMPLIFIED, filename="客房.txt")])
    said = compose(question, found, SentenceVectors(embedding_model()))
    assert said == QuotedAnswer("早餐从七点开始供应。 [S1]", ("滑雪課多少錢",))


BIKE = passage(
    "## Battery\n\nThe battery charges in four hours. It weighs three kilograms.\n\n"
    "## Warranty\n\nThe guarantee lasts two years. The frame is guaranteed for five years.\n"
)
HALL = passage(
    "## 泳池\n\n泳池每天七点开放。水深两米。\n\n## 收费标准\n\n成人票每张30元，儿童票每张15元。\n"
)


@pytest.mark.parametrize(
    ("question", "text", "first"),
    [
        (
            "How long does the guarantee of the battery last?",
            BIKE,
            "The guarantee lasts two years.",
        ),
        ("How many years is the battery guaranteed?", BIKE, "The guarantee lasts two years."),
        ("How long does the battery take to charge?", BIKE, "The battery charges in four hours."),
        ("泳池的成人票多少钱？", HALL, "成人票每张30元，儿童票每张15元。"),
        ("泳池几点开放？", HALL, "泳池每天七点开放。"),
    ],
)
def test_answer_may_stand_under_another_title_than_the_one_that_is_named(question, text, first):
    said = compose(question, evidence(question, [text]), SentenceVectors(embedding_model()))
    assert said is not None
    assert said.text.startswith(first)
