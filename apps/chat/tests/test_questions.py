import pytest

from apps.chat.errors import EmptyQuestionError, QuestionTooLongError
from apps.chat.turns.questions import clean_question, title_of


@pytest.mark.parametrize(
    "text", ["", "   ", "\n\t ", "\u200b\u200d", "\x00\x1b", "\u3000\u3000", "\ufeff", "\ud800"]
)
def test_question_without_anything_visible_is_refused(text):
    with pytest.raises(EmptyQuestionError):
        clean_question(text, max_chars=100)


def test_question_controls_and_lone_surrogates_are_dropped():
    assert clean_question("\x1b[31m年假\x00多少\ud800天？ ", max_chars=100) == "[31m年假多少天？"


def test_question_surrogate_pair_is_joined():
    assert clean_question("多少\ud83d\ude00？", max_chars=100) == "多少😀？"


def test_question_of_the_longest_allowed_length_passes():
    assert clean_question("问" * 100, max_chars=100) == "问" * 100


def test_question_longer_than_allowed_names_limit_and_length():
    with pytest.raises(QuestionTooLongError) as refusal:
        clean_question("问" * 101, max_chars=100)
    assert refusal.value.places == {"limit": 100, "actual": 101}


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("年假多少天？", "年假多少天？"),
        ("  what \n\n is\tthe   policy? ", "what is the policy?"),
        ("字" * 31, "字" * 30),
        ("a" * 29 + " b", "a" * 29),
        ("问" * 29 + "👩\u200d🚒谁", "问" * 29 + "👩\u200d🚒"),
        ("🇫🇷" * 31, "🇫🇷" * 30),
        ("o\u0308" * 31, "o\u0308" * 30),
    ],
)
def test_title_is_the_folded_question_cut_to_thirty_characters(question, title):
    assert title_of(question) == title
