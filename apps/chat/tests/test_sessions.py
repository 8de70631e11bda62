import pytest

from apps.accounts.profiles import change_profile
from apps.chat.errors import RunStoppedError
from apps.chat.models import AgentChatMessage, AgentChatSession, MessageSource
from apps.chat.sessions import ImportedMessage, create_session, delete_session, rename_session
from apps.chat.tests.conftest import finished_transcript, ledger_of, make_call, sources_of
from apps.chat.turns.endings import fail_turn, finish_turn
from apps.chat.turns.start import start_turn
from apps.chat.turns.stream_events import AnswerFailed
from apps.core.errors import NotFoundError, ValidationFailedError

pytestmark = pytest.mark.django_db


def test_new_session_has_no_title_and_no_messages(user):
    session = create_session(user)
    assert (session.title, session.status, session.message_count) == (None, "pending", 0)


def test_session_keeps_the_country_that_it_began_with(user):
    change_profile(user, country="SG")
    session = create_session(user)
    change_profile(user, country="JP")
    session.refresh_from_db()
    assert (session.billing_country_snapshot, session.billing_currency) == ("SG", "CNY")


def test_given_title_is_folded_onto_one_line(user):
    assert create_session(user, title="  年假 \n 政策 ").title == "年假 政策"


def test_blank_title_counts_as_none(user):
    assert create_session(user, title=" \n ").title is None


def test_title_over_255_characters_is_refused(user):
    with pytest.raises(ValidationFailedError):
        create_session(user, title="字" * 256)


def test_imported_messages_keep_order_and_carry_no_run_or_cost(user):
    session = create_session(
        user,
        messages=[
            ImportedMessage("user", "年假\x00多少天？"),
            ImportedMessage("assistant", "十五天。[S1]"),
        ],
    )
    assert list(
        session.messages.order_by("seq").values_list(
            "seq", "role", "status", "content", "run_id", "cost"
        )
    ) == [
        (1, "user", "completed", "年假多少天？", None, 0),
        (2, "assistant", "completed", "十五天。[S1]", None, 0),
    ]
    assert (session.title, session.message_count, session.total_cost) == ("年假多少天？", 2, 0)


def test_fifty_messages_can_be_imported_and_no_more(user):
    fifty = [ImportedMessage("user", str(number)) for number in range(50)]
    assert create_session(user, messages=fifty).message_count == 50
    with pytest.raises(ValidationFailedError):
        create_session(user, messages=[*fifty, ImportedMessage("user", "51")])


def test_import_of_an_empty_message_stores_nothing(user):
    with pytest.raises(ValidationFailedError):
        create_session(user, messages=[ImportedMessage("user", " \x00 ")])
    assert AgentChatSession.objects.count() == 0


def test_question_after_an_import_follows_it(user):
    session = create_session(user, messages=[ImportedMessage("user", "一")])
    start_turn(session, "二")
    assert list(session.messages.order_by("seq").values_list("seq", "content")) == [
        (1, "一"),
        (2, "二"),
        (3, ""),
    ]


def test_rename_sets_the_title(session):
    rename_session(session, " 新\n名 ")
    assert AgentChatSession.objects.get(id=session.id).title == "新 名"


@pytest.mark.parametrize("title", ["", " \u200b ", "字" * 256])
def test_rename_to_an_empty_or_overlong_title_is_refused(session, title):
    with pytest.raises(ValidationFailedError):
        rename_session(session, title)


def test_rename_of_a_deleted_session_is_not_found(session):
    delete_session(session)
    with pytest.raises(NotFoundError):
        rename_session(session, "名")


def test_deletion_purges_texts_and_keeps_the_cost_figures(session, document):
    turn = start_turn(session, "年假多少天？")
    ledger = ledger_of(turn)
    make_call(ledger, 200, 30, model="unheard-of")
    finish_turn(turn, finished_transcript(sources=sources_of(document), ledger=ledger))
    delete_session(session)
    tombstone = AgentChatSession.objects.get(id=session.id)
    assert (tombstone.title, tombstone.state_snapshot, tombstone.error_id) == (None, {}, None)
    assert (tombstone.total_tokens, tombstone.unpriced_calls) == (230, 1)
    assert tombstone.deleted_at is not None
    assert MessageSource.objects.count() == 0
    assert list(session.messages.order_by("seq").values_list("content", "metadata")) == [
        ("", {}),
        ("", {}),
    ]
    answer = session.messages.get(role="assistant")
    assert (answer.model_code, answer.input_tokens, answer.output_tokens, answer.cost) == (
        "extractive",
        200,
        30,
        None,
    )


def test_deleted_session_is_nobodys(session, user):
    delete_session(session)
    assert list(AgentChatSession.objects.of(user)) == []


def test_second_deletion_is_not_found(session):
    delete_session(session)
    with pytest.raises(NotFoundError):
        delete_session(session)


def test_deletion_during_an_answer_ends_it_and_books_its_cost(session, document):
    turn = start_turn(session, "年假多少天？")
    ledger = ledger_of(turn)
    delete_session(session)
    make_call(ledger, 200, 30)
    ending = finish_turn(turn, finished_transcript(sources=sources_of(document), ledger=ledger))
    assert ending == AnswerFailed(turn.message_id, "SESSION_DELETED", "会话已删除。", False)
    answer = AgentChatMessage.objects.get(id=turn.message_id)
    assert (answer.status, answer.content, answer.input_tokens) == ("failed", "", 200)
    assert MessageSource.objects.count() == 0
    tombstone = AgentChatSession.objects.get(id=session.id)
    assert (tombstone.total_tokens, tombstone.state_snapshot) == (230, {})


def test_failure_after_a_deletion_writes_no_text_back(session):
    turn = start_turn(session, "年假多少天？")
    delete_session(session)
    transcript = finished_transcript()
    fail_turn(turn, RunStoppedError(), transcript)
    assert list(session.messages.values_list("content", flat=True)) == ["", ""]


def test_search_finds_titles_and_messages_of_any_case(user):
    first = create_session(user, title="Holiday Policy")
    second = create_session(user, messages=[ImportedMessage("user", "about HOLIDAYS")])
    create_session(user, title="别的")
    found = AgentChatSession.objects.of(user).matching("holiday").recent_first()
    assert list(found) == [second, first]
