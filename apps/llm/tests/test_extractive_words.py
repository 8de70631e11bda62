"""Terms, names, kinds of answers, small talk, follow-ups and searches: the lexical parts."""

from __future__ import annotations

import pytest

from apps.core.text.asking import asks
from apps.core.text.names import names, related_names
from apps.core.text.words import is_foreign, numbers, telling_terms, terms
from apps.llm.extractive.answer_kind import holds_new, kind_asked, wants_explanation
from apps.llm.extractive.followups import own_part, standalone_query
from apps.llm.extractive.multi_hop import next_query
from apps.llm.extractive.routing import asks_again, without_courtesies
from apps.llm.tests.passages import passage

HISTORY = [(True, "星河项目第一年的预算是多少？"), (False, "第一年的预算为300万元。")]


@pytest.mark.parametrize(
    ("text", "to_chinese", "to_english"),
    [
        ("财务部联系人是王芳。", False, True),
        (
            "The contact is Wang Fang (王芳), who joined the finance department in 2015.",
            True,
            False,
        ),
        ("联系人 contact：王芳 Wang Fang，财务部 finance", False, False),
        ("2015: 8021", False, False),
    ],
)
def test_text_is_foreign_to_questions_in_the_other_language(
    text: str, to_chinese: bool, to_english: bool
) -> None:
    assert is_foreign(text, "联系人是谁？") == to_chinese
    assert is_foreign(text, "Who is the contact?") == to_english


def test_terms_are_chinese_pairs_and_english_stems_without_question_words() -> None:
    assert terms("年假有多少天？") == ["年假"]
    assert terms("Who directed the films?") == ["direct", "film"]
    assert terms("天") == ["天"]
    assert terms("嗯嗯，年假呢？") == ["年假"]
    assert terms("Ok, and E01?") == ["e01"]


@pytest.mark.parametrize(
    ("question", "telling"),
    [
        ("为什么？", set()),
        ("那最多几天？", set()),
        ("能玩多久呢？", {"玩"}),
        ("那陪产假呢？", {"陪产", "产假"}),
        ("How long does it take?", set()),
        ("Where exactly?", set()),
        ("And what does it not cover?", {"cover"}),
    ],
)
def test_terms_of_a_follow_up_that_name_what_it_asks_about(
    question: str, telling: set[str]
) -> None:
    assert telling_terms(question) == telling


def test_numbers_ignore_thousands_separators_and_width() -> None:
    assert numbers("２０２４年共 1,200 人") == {"2024", "1200"}


def test_names_are_capitalised_runs_and_quoted_titles() -> None:
    assert names("The film was directed by R. G. Springsteen in May.") == ["R. G. Springsteen"]
    assert names("他写了《红楼梦》。") == ["红楼梦"]


def test_names_that_the_relation_leads_to_come_first() -> None:
    text = "Atomised is a German film starring Moritz Bleibtreu and directed by Oskar Roehler."
    asked = "Who is the mother of the director of Atomised?"
    assert related_names(text, asked)[0] == "Oskar Roehler"


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("公司何时成立？", "time"),
        ("研发上限是多少？", "number"),
        ("Where is it?", "place"),
        ("谁审批？", "person"),
        ("Why are claims rejected?", "reason"),
        ("什么是年假？", "definition"),
        ("年假怎么申请？", None),
    ],
)
def test_kind_of_answer_asked_for(question: str, kind: str | None) -> None:
    assert kind_asked(question) == kind


def test_a_span_that_the_question_holds_itself_is_not_new() -> None:
    assert holds_new("time", "公司于2019年成立。", "公司何时成立？")
    assert not holds_new("time", "2019年公司搬迁。", "2019年公司何时上市？")


def test_how_and_keywords_want_more_than_one_fact() -> None:
    assert wants_explanation("年假怎么申请？")
    assert wants_explanation("Probate?")
    assert not wants_explanation("年假有多少天？")
    assert not wants_explanation("Who founded it?")


AGAIN = [
    *("再说一遍", "请再说一遍。", "重复一遍", "换个说法", "用一句话总结上面的回答", "说得简单点"),
    *("总结一下你刚才的回答", "能再解释一遍吗?", "刚才的回答是什么?", "谢谢,再说一遍", "我没听懂"),
    *("say that again", "Explain that more simply", "Can you repeat that, please?"),
    *("summarize your answer in one sentence", "In other words?", "What was your last answer?"),
]


@pytest.mark.parametrize("message", AGAIN)
def test_last_answer_is_wanted_again(message: str) -> None:
    assert asks_again(message)


@pytest.mark.parametrize(
    "message",
    [
        *(
            "总结一下员工手册",
            "解释一下年假",
            "重复报销怎么处理？",
            "换个电池要多少钱？",
            "说明书",
        ),
        *("How do I repeat a cycle?", "explain the warranty", "What did I say about leave?"),
    ],
)
def test_subject_of_its_own_is_no_wish_for_the_last_answer(message: str) -> None:
    assert not asks_again(message)


@pytest.mark.parametrize(
    ("message", "asked"),
    [
        ("你好,年假几天?", "年假几天?"),
        ("您好请问年假几天？", "请问年假几天？"),
        ("你好 年假几天？谢谢！", "年假几天？"),
        ("Hello, how long is the warranty? Thanks a lot.", "how long is the warranty?"),
        ("hi how long is it", "how long is it"),
        ("Thanks! And its price?", "And its price?"),
        ("好的，那病假呢？", "好的，那病假呢？"),
        ("你好贷是什么？", "你好贷是什么？"),
        ("Hello Kitty was made by whom?", "Hello Kitty was made by whom?"),
        ("Do they owe more?", "Do they owe more?"),
        ("你好", "你好"),
    ],
)
def test_greeting_and_thanks_are_no_part_of_the_question(message: str, asked: str) -> None:
    assert without_courtesies(message) == asked
    assert standalone_query(message, []) == asked


def test_chinese_follow_up_is_led_by_the_conversation() -> None:
    query = standalone_query("那第二年呢？", HISTORY)
    assert query == "星河项目第一年的预算是多少？\n第一年的预算为300万元。\n那第二年呢？"
    assert own_part(query) == "那第二年呢？"


def test_english_follow_up_is_led_by_names_or_the_last_question() -> None:
    talk = [(True, "Who founded Acme?"), (False, "It was founded by Maria Lopez.")]
    assert standalone_query("When was she born?", talk) == "Maria Lopez Acme\nWhen was she born?"
    plain = [(True, "what is the hotel limit"), (False, "it is 180")]
    assert (
        standalone_query("who approves it?", plain) == "what is the hotel limit\nwho approves it?"
    )


def test_question_that_stands_alone_stays_as_it_is() -> None:
    for question in (
        "公司的差旅住宿标准分为哪几个等级？",
        "What were the main causes of World War II?",
    ):
        assert standalone_query(question, HISTORY) == question
    assert standalone_query("那第二年呢？", []) == "那第二年呢？"


def test_several_questions_are_divided_only_where_each_part_asks() -> None:
    assert asks("年假有多少天，病假工资怎么算？") == ["年假有多少天", "病假工资怎么算"]
    assert asks("What is the limit and who approves it?") == [
        "What is the limit",
        "who approves it",
    ]
    assert asks("年假和病假有多少天？") == ["年假和病假有多少天？"]
    assert asks("Tom and Jerry were born where?") == ["Tom and Jerry were born where?"]


def test_white_space_of_any_length_divides_no_question() -> None:
    gap = "\t" * 100_000  # takes minutes where each tab is looked at for each tab
    assert asks(f"What is{gap}the limit?") == [f"What is{gap}the limit?"]
    assert asks(f"What is the limit{gap}and{gap}who approves it?\n{gap}\n") == [
        "What is the limit",
        "who approves it",
    ]


def test_follow_up_is_led_by_the_beginning_of_a_message_of_any_length() -> None:
    talk = [(True, "年假有多少天？"), (False, "十五天。" + "[" * 100_000)]
    query = standalone_query("那病假呢？", talk)
    context, _, asked = query.rpartition("\n")
    assert (context[:14], len(context), asked) == ("年假有多少天？\n十五天。[[", 208, "那病假呢？")


def test_one_search_is_enough_when_the_first_passage_covers_the_question() -> None:
    covering = passage("Acme flights must be booked through the travel desk.")
    question = "How must Acme flights be booked?"
    assert next_query(question, [], []) == question
    assert next_query(question, [question], [[covering]]) is None


def test_second_search_follows_the_name_that_the_first_passage_brings_up() -> None:
    film = passage("Atomised is a film directed by Oskar Roehler.", heading="Atomised")
    question = "Who is the mother of the director of the film Atomised?"
    assert next_query(question, [question], [[film]]) == "Oskar Roehler"


def test_passage_in_another_language_leads_to_no_further_search() -> None:
    station = passage("该车站由铁路公司负责运营，详见《车站管理办法》。")
    question = "Who runs the station?"
    assert next_query(question, [question], [[station]]) is None


def test_parts_are_searched_one_by_one_and_never_more_than_three_times() -> None:
    question = "年假有多少天，病假怎么请，婚假多少天？"
    searched = [question]
    for part in ("年假有多少天", "病假怎么请"):
        assert next_query(question, searched, [[]]) == part
        searched.append(part)
    assert next_query(question, searched, [[]]) is None


def test_question_that_may_have_changed_the_subject_is_searched_alone_as_well() -> None:
    query = standalone_query("年假有多少天？", HISTORY)
    assert next_query(query, [query], [[]]) == "年假有多少天？"
    follow_up = standalone_query("那第二年呢？", HISTORY)
    assert next_query(follow_up, [follow_up], [[]]) is None
