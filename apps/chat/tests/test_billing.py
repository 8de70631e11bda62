"""Every call is charged once, to one message; messages and sessions hold exact sums."""

from decimal import Decimal

import pytest
from django.db.models import Sum
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from apps.accounts.local_user import local_user
from apps.agents.events import IntentResult, StageFinished, ToolCalled, ToolReturned
from apps.chat.errors import RunInterruptedError, RunStoppedError
from apps.chat.models import AgentChatMessage, AgentChatSession, ModelCall
from apps.chat.sessions import delete_session
from apps.chat.tests.conftest import (
    begin_call,
    end_call,
    finished_transcript,
    ledger_of,
    make_call,
)
from apps.chat.turns.endings import fail_turn, finish_turn, recover_runs
from apps.chat.turns.start import start_turn
from apps.chat.turns.transcript import Transcript
from apps.core.fields import yuan
from apps.llm.pricing.charges import Usage

BEGUN_COST = 2  # micro-yuan of the 10 estimated tokens of qwen3.5-flash at 0.2


def figures(session):
    session.refresh_from_db()
    return session.total_tokens, session.total_cost, session.unpriced_calls


@pytest.fixture
def turn(session):
    return start_turn(session, "一")


@pytest.mark.django_db
def test_call_is_a_running_row_before_it_is_sent(turn):
    begin_call(ledger_of(turn), stage="intent")
    call = ModelCall.objects.get()
    assert (call.status, call.message_id, call.run_id, call.stage, call.agent, call.vendor) == (
        "running",
        turn.message_id,
        turn.run_id,
        "intent",
        "main_agent",
        "qwen",
    )
    assert (call.input_tokens, call.cost, call.cost_source) == (10, BEGUN_COST, "estimated")


@pytest.mark.django_db
def test_answer_carries_the_sum_of_its_calls(session, turn):
    ledger = ledger_of(turn)
    make_call(ledger, 1000, 50, 640, model="deepseek-chat", stage="intent")
    make_call(ledger, 1000, 100, stage="organization")
    finish_turn(turn, finished_transcript(ledger=ledger))
    rows = ModelCall.objects.values_list(
        "stage", "status", "input_tokens", "cached_tokens", "cost", "cost_source", "price_version"
    )
    assert list(rows) == [
        ("intent", "completed", 1000, 640, 720 + 128 + 150, "custom_pricing", "2026-11-30"),
        ("organization", "completed", 1000, 0, 200 + 200, "custom_pricing", "2026-11-30"),
    ]
    call = ModelCall.objects.last()
    assert (call.latency_ms, call.first_token_ms, call.raw_usage) == (3, 1, {"n": 1})
    answer = AgentChatMessage.objects.get(id=turn.message_id)
    assert (answer.input_tokens, answer.output_tokens, answer.cost) == (2000, 150, 1398)
    assert answer.metadata["cost_source"] == "custom_pricing"
    assert figures(session) == (2150, 1398, 0)
    assert yuan(session.total_cost) == Decimal("0.001398")


@pytest.mark.django_db
def test_call_without_a_price_costs_null_and_is_flagged(session, turn):
    ledger = ledger_of(turn)
    make_call(ledger, 100, 10, model="unheard-of")
    finish_turn(turn, finished_transcript(ledger=ledger))
    answer = AgentChatMessage.objects.get(id=turn.message_id)
    assert (answer.cost, answer.metadata["cost_source"]) == (None, "unpriced")
    assert figures(session) == (110, 0, 1)


@pytest.mark.django_db
def test_priced_calls_beside_an_unpriced_one_are_charged(session, turn):
    ledger = ledger_of(turn)
    make_call(ledger, 1000)
    make_call(ledger, 1000, model="unheard-of")
    finish_turn(turn, finished_transcript(ledger=ledger))
    answer = AgentChatMessage.objects.get(id=turn.message_id)
    assert (answer.cost, answer.metadata["cost_source"]) == (200, "unpriced")
    assert figures(session) == (2000, 200, 1)


@pytest.mark.django_db
def test_query_embedding_is_charged_to_the_result_of_its_tool_call(session, turn):
    ledger = ledger_of(turn)
    events = []
    for call_id, tokens in (("c1", 1000), ("c2", 3000)):
        make_call(ledger, tokens, model="text-embedding-v4", kind="embedding",
                  tool_call_id=call_id)  # fmt: skip
        events += [ToolCalled(call_id, "search", {}), ToolReturned(call_id, "search")]
    make_call(ledger, 1000)
    finish_turn(turn, finished_transcript(ledger=ledger, before=events))
    visible = session.messages.visible().values_list("role", "input_tokens", "cost")
    assert list(visible) == [
        ("user", 0, 0),
        ("tool", 0, 0),
        ("tool", 1000, 500),
        ("tool", 0, 0),
        ("tool", 3000, 1500),
        ("assistant", 1000, 200),
    ]
    assert session.messages.get(seq=3).metadata["cost_source"] == "custom_pricing"
    assert figures(session) == (5000, 2200, 0)


@pytest.mark.django_db
def test_discarded_search_is_charged_to_the_audit_of_its_stage(session, turn):
    ledger = ledger_of(turn)
    make_call(ledger, 1000, model="text-embedding-v4", kind="embedding", tool_call_id="first_1")
    make_call(ledger, 1000)
    intent = IntentResult(route="DIRECT_EXECUTION", intent_summary="问候", assistant_text="你好！")
    ended = StageFinished("intent", intent, discarded_call_id="first_1")
    finish_turn(turn, finished_transcript(outcome="direct", ledger=ledger, before=[ended]))
    rows = session.messages.order_by("seq").values_list("seq", "role", "input_tokens", "cost")
    assert list(rows) == [
        (-1, "system", 1000, 500),
        (1, "user", 0, 0),
        (2, "assistant", 1000, 200),
    ]
    assert session.messages.get(seq=-1).metadata == {
        "type": "stage_result",
        "stage": "intent",
        "discarded_call_id": "first_1",
        "cost_source": "custom_pricing",
    }
    assert figures(session) == (2000, 700, 0)


@pytest.mark.django_db
def test_failed_run_is_charged_as_far_as_known(session, turn):
    ledger = ledger_of(turn)
    end_call(ledger, begin_call(ledger), Usage(is_estimated=True), "failed")
    make_call(ledger, 300, 20)
    end_call(ledger, begin_call(ledger), Usage(900, 200, is_estimated=True), "cancelled")
    fail_turn(turn, RunStoppedError(), Transcript(ledger=ledger))
    rows = ModelCall.objects.values_list("status", "cost", "cost_source")
    assert list(rows) == [
        ("failed", 0, "estimated"),
        ("completed", 100, "custom_pricing"),
        ("cancelled", 580, "estimated"),
    ]
    assert figures(session) == (1420, 680, 0)


@pytest.mark.django_db
def test_end_of_a_call_is_written_with_the_beginning_of_the_next(turn):
    ledger = ledger_of(turn)
    make_call(ledger, 300, 20)
    begin_call(ledger)
    assert list(ModelCall.objects.values_list("status", "cost")) == [
        ("completed", 100),
        ("running", BEGUN_COST),
    ]


@pytest.mark.django_db
def test_call_cannot_begin_after_its_run_has_ended(session, turn):
    ledger = ledger_of(turn)
    make_call(ledger, 300, 20)
    fail_turn(turn, RunStoppedError(), Transcript(ledger=ledger))
    with pytest.raises(RunInterruptedError):
        begin_call(ledger)
    assert list(ModelCall.objects.values_list("status", "cost")) == [("completed", 100)]
    assert figures(session) == (320, 100, 0)


@pytest.mark.django_db
@pytest.mark.parametrize("model", ["qwen3.5-flash", "unheard-of"])
def test_message_tells_the_source_of_its_cost(turn, client, model):
    ledger = ledger_of(turn)
    make_call(ledger, 1000)
    make_call(ledger, 1000, model=model)
    finish_turn(turn, finished_transcript(ledger=ledger))
    question, answer = client.get(f"/api/v1/sessions/{turn.session_id}/messages").json()["items"]
    priced = ("0.000400", "custom_pricing") if model != "unheard-of" else ("0.000200", "unpriced")
    assert (question["cost"], question["cost_source"]) == ("0.000000", None)
    assert (answer["cost"], answer["cost_source"]) == priced


@pytest.mark.django_db
def test_dead_process_leaves_calls_that_are_charged_once(session, turn):
    ledger = ledger_of(turn)
    make_call(ledger, 300, 20)
    begin_call(ledger)
    assert (recover_runs(), recover_runs()) == (1, 0)
    assert list(ModelCall.objects.values_list("status", "cost")) == [
        ("completed", 100),
        ("failed", BEGUN_COST),
    ]
    assert figures(session) == (330, 100 + BEGUN_COST, 0)


@pytest.mark.django_db
def test_calls_of_a_deleted_session_whose_process_died_are_charged(session, turn):
    begin_call(ledger_of(turn))
    delete_session(session)
    assert recover_runs() == 0
    assert ModelCall.objects.get().status == "failed"
    assert figures(session) == (10, BEGUN_COST, 0)


@pytest.mark.django_db
def test_run_that_another_process_ended_is_charged_with_what_it_knows(session, turn):
    ledger = ledger_of(turn)
    call = begin_call(ledger)
    fail_turn(turn, RunStoppedError())
    assert figures(session) == (10, BEGUN_COST, 0)
    end_call(ledger, call, Usage(300, 20))
    fail_turn(turn, RunStoppedError(), Transcript(ledger=ledger))
    assert figures(session) == (320, 100, 0)


MODELS = st.sampled_from(
    ["qwen3.5-flash", "deepseek-chat", "text-embedding-v4", "unheard-of", "extractive"]
)
USAGES = st.builds(
    lambda cached, missed, out, guessed: Usage(cached + missed, out, cached, is_estimated=guessed),
    *[st.integers(0, 300_000)] * 3,
    st.booleans(),
)
CALLS = st.tuples(MODELS, USAGES, st.sampled_from(["completed", "failed", "cancelled", "killed"]))
ENDS = st.sampled_from(["finish", "fail", "kill", "stopped elsewhere", "delete"])
RUNS = st.lists(st.tuples(st.lists(CALLS, max_size=4), ENDS), min_size=1, max_size=4)


class RandomSequences(TestCase):
    """Over random sequences of calls and ends, figures are exact and no call is charged twice."""

    @settings(max_examples=40)
    @given(RUNS)
    def test_totals_equal_sums_exactly(self, runs):
        session = AgentChatSession.objects.create(user=local_user())
        begun = sum(play(session, calls, end) for calls, end in runs)
        recover_runs()
        calls = ModelCall.objects.filter(session=session)
        session.refresh_from_db()
        assert calls.count() == begun
        assert not calls.filter(status="running").exists()
        for message in session.messages.all():
            own = message.calls.aggregate(i=Sum("input_tokens"), o=Sum("output_tokens"))
            priced = message.calls.aggregate(cost=Sum("cost"))["cost"]
            expected = priced if message.calls.exists() else 0
            assert (message.input_tokens, message.output_tokens, message.cost) == (
                own["i"] or 0,
                own["o"] or 0,
                expected,
            )
        sums = calls.aggregate(cost=Sum("cost"), i=Sum("input_tokens"), o=Sum("output_tokens"))
        assert session.total_cost == (sums["cost"] or 0)
        assert session.total_tokens == (sums["i"] or 0) + (sums["o"] or 0)
        assert session.unpriced_calls == calls.filter(cost=None).count()


def play(session, calls, end):
    """Run one question; return how many calls must have left a row."""
    if session.deleted_at is not None:
        return 0
    turn = start_turn(session, "一")
    ledger = ledger_of(turn)
    rows = sum(one_call(ledger, *call, process_dies=end == "kill") for call in calls)
    transcript = finished_transcript(ledger=ledger)
    if end == "finish":
        finish_turn(turn, transcript)
    elif end == "stopped elsewhere":
        fail_turn(turn, RunStoppedError())
        fail_turn(turn, RunStoppedError(), transcript)
    elif end == "delete":
        delete_session(session)
        session.refresh_from_db()
        finish_turn(turn, transcript)
    elif end == "fail":
        fail_turn(turn, RunStoppedError(), transcript)
    else:
        recover_runs()
    return rows


def one_call(ledger, model, usage, status, *, process_dies):
    """Make a call; an embedded one leaves a row only when its process lives to write it."""
    vendor = "embedded" if model == "extractive" else "v"
    call = begin_call(ledger, model, vendor=vendor)
    is_lost = process_dies or status == "killed"
    if not is_lost:
        end_call(ledger, call, Usage() if vendor == "embedded" else usage, status)
    return 0 if is_lost and vendor == "embedded" else 1
