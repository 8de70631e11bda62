from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone
from pydantic import BaseModel

from apps.agents.events import (
    StageFinished,
    TokenProduced,
    ToolCalled,
    ToolReturned,
)
from apps.chat.errors import (
    EmptyQuestionError,
    NothingToResendError,
    RunInProgressError,
    RunInterruptedError,
    RunStoppedError,
)
from apps.chat.models import AgentChatMessage, AgentChatSession, MessageSource
from apps.chat.tests.conftest import (
    finished_transcript,
    ledger_of,
    make_call,
    make_document,
    sources_of,
)
from apps.chat.turns.endings import fail_turn, finish_turn, recover_runs, save_partial
from apps.chat.turns.start import resend_turn, start_turn
from apps.chat.turns.stream_events import AnswerFailed, AnswerSaved
from apps.chat.turns.transcript import Transcript
from apps.core.errors import NotFoundError

pytestmark = pytest.mark.django_db


def rows(session):
    return list(
        session.messages.order_by("seq").values_list(
            "seq", "role", "status", "content", "error_code"
        )
    )


def test_start_stores_question_placeholder_title_and_state(session):
    turn = start_turn(session, " 年假\n多少天？ ")
    assert rows(session) == [
        (1, "user", "completed", "年假\n多少天？", None),
        (2, "assistant", "generating", "", None),
    ]
    session.refresh_from_db()
    assert (session.title, session.status, session.message_count) == (
        "年假 多少天？",
        "running",
        2,
    )
    assert session.state_snapshot == {
        "status": "running",
        "run_id": str(turn.run_id),
        "message_id": str(turn.message_id),
    }


def test_start_keeps_a_title_that_is_set(session):
    AgentChatSession.objects.filter(id=session.id).update(title="假期")
    start_turn(session, "年假多少天？")
    session.refresh_from_db()
    assert session.title == "假期"


def test_start_refuses_a_second_question_while_one_is_answered(session):
    start_turn(session, "一")
    with pytest.raises(RunInProgressError):
        start_turn(session, "二")
    assert [row[3] for row in rows(session)] == ["一", ""]


def test_start_of_an_empty_question_stores_nothing(session):
    with pytest.raises(EmptyQuestionError):
        start_turn(session, " \u200b ")
    session.refresh_from_db()
    assert (rows(session), session.status, session.title) == ([], "pending", None)


def test_start_in_a_deleted_session_is_not_found(session):
    AgentChatSession.objects.filter(id=session.id).update(deleted_at=timezone.now())
    with pytest.raises(NotFoundError):
        start_turn(session, "一")


def test_start_ends_a_placeholder_that_no_live_run_can_have(session):
    old = start_turn(session, "一")
    AgentChatMessage.objects.filter(id=old.message_id).update(
        created_at=timezone.now() - timedelta(hours=1)
    )
    start_turn(session, "二")
    assert [(row[2], row[4]) for row in rows(session)] == [
        ("completed", None),
        ("failed", "INTERRUPTED"),
        ("completed", None),
        ("generating", None),
    ]


def test_second_generating_message_of_a_session_is_impossible(session):
    start_turn(session, "一")
    with pytest.raises(IntegrityError), transaction.atomic():
        session.messages.create(seq=9, role="assistant", status="generating")


def test_finish_stores_answer_sources_and_state(session, document):
    turn = start_turn(session, "年假多少天？")
    ending = finish_turn(turn, finished_transcript(sources=sources_of(document)))
    assert ending == AnswerSaved(turn.message_id, "answered")
    assert rows(session)[-1] == (2, "assistant", "completed", "十五天。[S1]", None)
    answer = AgentChatMessage.objects.get(id=turn.message_id)
    assert answer.metadata == {
        "type": "assistant_output",
        "imported": False,
        "outcome": "answered",
        "cited_labels": ["S1"],
        "interrupted": False,
    }
    assert list(
        answer.sources.values_list("citation_label", "score", "scope", "search_query")
    ) == [
        ("S1", 0.9, f"user:{session.user_id}", "年假多少天"),
        ("S2", 0.9, f"user:{session.user_id}", "年假多少天"),
    ]
    session.refresh_from_db()
    assert (session.status, session.state_snapshot["outcome"]) == ("completed", "answered")


def test_finish_drops_the_sources_of_a_document_deleted_meanwhile(session, user, document):
    other = make_document(user, "b.md", ["别的"])
    found = sources_of(document)[:1] + sources_of(other)
    turn = start_turn(session, "年假多少天？")
    document.delete()
    labelled = (found[0], replace(found[1], label="S2"))
    assert finish_turn(turn, finished_transcript(sources=labelled)) == AnswerSaved(
        turn.message_id, "answered"
    )
    assert list(MessageSource.objects.values_list("citation_label", flat=True)) == ["S2"]


def test_finish_drops_sources_of_another_person(session, django_user_model):
    stranger = django_user_model.objects.create(username="stranger")
    foreign = make_document(stranger, "geheim.md", ["geheim"])
    turn = start_turn(session, "年假多少天？")
    finish_turn(turn, finished_transcript(sources=sources_of(foreign)))
    assert MessageSource.objects.count() == 0


def test_finish_puts_tool_messages_between_question_and_answer(session):
    turn = start_turn(session, "年假多少天？")
    before = [
        ToolCalled("c1", "search_knowledge_base", {"query": "年假"}),
        ToolReturned("c1", "search_knowledge_base", hit_count=2, best_score=0.9),
    ]
    finish_turn(turn, finished_transcript(before=before))
    assert [row[:4] for row in rows(session)] == [
        (1, "user", "completed", "年假多少天？"),
        (2, "tool", "completed", '{"query": "年假"}'),
        (3, "tool", "completed", '{"hit_count": 2, "best_score": 0.9, "error_code": null}'),
        (4, "assistant", "completed", "十五天。[S1]"),
    ]
    call, result = session.messages.filter(role="tool").order_by("seq")
    digest = call.metadata["tool"]["args_digest"]
    assert len(digest) == 64
    assert call.metadata["tool"] == {
        "name": "search_knowledge_base",
        "status": "called",
        "args_digest": digest,
    }
    assert result.metadata["tool"] == {
        "name": "search_knowledge_base",
        "status": "succeeded",
        "args_digest": digest,
    }
    session.refresh_from_db()
    assert session.message_count == 2


def test_next_turn_follows_tool_messages(session):
    first = start_turn(session, "一")
    finish_turn(first, finished_transcript(before=[ToolCalled("c", "t", {})]))
    start_turn(session, "二")
    assert [row[0] for row in rows(session)] == [1, 2, 3, 4, 5]


def test_stage_results_are_kept_below_zero_in_order(session):
    class Result(BaseModel):
        route: str

    turn = start_turn(session, "一")
    before = [
        StageFinished("intent", Result(route="a")),
        StageFinished("execution", Result(route="b")),
    ]
    finish_turn(turn, finished_transcript(before=before))
    audit = session.messages.filter(seq__lt=0).order_by("-seq")
    assert [(row.seq, row.role, row.content, row.metadata["stage"]) for row in audit] == [
        (-1, "system", '{"route":"a"}', "intent"),
        (-2, "system", '{"route":"b"}', "execution"),
    ]


def test_fail_keeps_the_text_and_marks_it_interrupted(session):
    turn = start_turn(session, "一")
    transcript = Transcript()
    transcript.add(TokenProduced("半句"))
    ending = fail_turn(turn, RunStoppedError(), transcript)
    assert ending == AnswerFailed(turn.message_id, "STOPPED", "已停止生成。", True)
    assert rows(session)[-1] == (2, "assistant", "failed", "半句", "STOPPED")
    answer = AgentChatMessage.objects.get(id=turn.message_id)
    assert answer.metadata["interrupted"] is True
    assert answer.metadata["error"] == {"message": "已停止生成。", "retryable": True}
    session.refresh_from_db()
    assert (session.status, session.state_snapshot["error_code"]) == ("failed", "STOPPED")
    assert session.error_id is not None


def test_fail_after_the_answer_was_stored_changes_nothing(session):
    turn = start_turn(session, "一")
    finish_turn(turn, finished_transcript())
    assert fail_turn(turn, RunStoppedError()) == AnswerSaved(turn.message_id, "answered")
    assert rows(session)[-1][2:] == ("completed", "十五天。[S1]", None)


def test_finish_after_a_stop_changes_nothing(session):
    turn = start_turn(session, "一")
    stopped = fail_turn(turn, RunStoppedError())
    assert finish_turn(turn, finished_transcript()) == stopped
    assert rows(session)[-1][2:] == ("failed", "", "STOPPED")


def test_question_after_a_failure_runs_again(session):
    fail_turn(start_turn(session, "一"), RunStoppedError())
    start_turn(session, "二")
    session.refresh_from_db()
    assert (session.status, session.error_id) == ("running", None)


def test_recovery_fails_what_a_dead_process_left_and_keeps_its_text(session):
    turn = start_turn(session, "一")
    save_partial(turn, "半句")
    assert recover_runs() == 1
    assert rows(session)[-1] == (2, "assistant", "failed", "半句", "INTERRUPTED")
    assert recover_runs() == 0


def test_usage_of_embedded_models_costs_nothing(session):
    turn = start_turn(session, "一")
    ledger = ledger_of(turn)
    make_call(ledger, model="extractive", vendor="embedded")
    finish_turn(turn, finished_transcript(ledger=ledger))
    answer = AgentChatMessage.objects.get(id=turn.message_id)
    assert (answer.cost, answer.metadata["cost_source"], answer.model_code) == (
        0,
        "embedded",
        "extractive",
    )


def test_resend_of_the_last_answer_replaces_it(session):
    failed = start_turn(session, "年假多少天？")
    fail_turn(failed, RunInterruptedError())
    again = resend_turn(session, failed.message_id)
    assert again.question == "年假多少天？"
    assert again.question_id == failed.question_id
    assert [(m.seq, m.role, m.status) for m in session.messages.visible()] == [
        (1, "user", "completed"),
        (3, "assistant", "generating"),
    ]
    session.refresh_from_db()
    assert session.message_count == 2


def test_resend_of_an_earlier_answer_asks_anew_at_the_end(session):
    failed = start_turn(session, "一")
    fail_turn(failed, RunInterruptedError())
    finish_turn(start_turn(session, "二"), finished_transcript())
    resend_turn(session, failed.message_id)
    assert [m.content for m in session.messages.visible()] == [
        "一",
        "",
        "二",
        "十五天。[S1]",
        "一",
        "",
    ]


def test_resend_of_a_completed_answer_is_refused(session):
    turn = start_turn(session, "一")
    finish_turn(turn, finished_transcript())
    with pytest.raises(NothingToResendError):
        resend_turn(session, turn.message_id)


def test_deleting_a_document_removes_its_sources_and_keeps_the_answer(session, document):
    turn = start_turn(session, "年假多少天？")
    finish_turn(turn, finished_transcript(sources=sources_of(document)))
    document.delete()
    answer = AgentChatMessage.objects.get(id=turn.message_id)
    assert (answer.content, answer.sources.count()) == ("十五天。[S1]", 0)
