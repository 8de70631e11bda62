"""The rules of the flow against endpoints that misbehave, over real HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from apps.agents.events import ModelCalled, StageFinished, ToolCalled, Turn
from apps.agents.flow import answer_question
from apps.agents.tests.conftest import USER, fixed_search, passage, run_flow
from tests.fault_server import FaultServer, Pace

pytestmark = pytest.mark.asyncio

SEARCH = fixed_search(passage(0), passage(1))
QUESTION = "年假和病假分别是多少天？"  # left to the research agent
REFUSAL = "资料中没有找到能够回答这个问题的内容。可以换一种问法，或先上传包含相关内容的文档。"
Use = Callable[..., None]


def text_turn(*pieces: str, reason: str = "stop", end: str = "done") -> dict[str, Any]:
    deltas = [{"choices": [{"index": 0, "delta": {"content": p}}]} for p in pieces]
    last = {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    return {"sse": [*deltas, last] if end == "done" else deltas, "end": end}


def call_turn(*arguments: str, call_id: str = "c1") -> dict[str, Any]:
    calls = [
        {"index": i, "id": call_id, "function": {"name": "any", "arguments": a}}
        for i, a in enumerate(arguments)
    ]
    delta = {"choices": [{"index": 0, "delta": {"tool_calls": calls}}]}
    last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
    return {"sse": [delta, last], "end": "done"}


def query(text: str) -> str:
    return json.dumps({"query": text}, ensure_ascii=False)


def intent(**fields: object) -> dict[str, str]:
    return {"text": json.dumps({"intent_summary": "x", **fields}, ensure_ascii=False)}


def script(*turns: dict[str, Any], **more: object) -> dict[str, Any]:
    return {"turns": list(turns), **more}


ANSWER = text_turn("十五天", "[S", "1]。")


async def test_well_behaved_endpoint_is_answered(use_endpoint: Use) -> None:
    with FaultServer() as server:
        use_endpoint(server)
        run = await run_flow(QUESTION, SEARCH)
    assert run.finished.outcome == "answered"
    assert run.finished.text == run.text == "根据资料可以确定这一点[S2]。其余内容见所列出处[S1]。"
    assert run.finished.cited_labels == ("S2", "S1")
    assert len(server.requests) == 3


async def test_research_comes_before_the_answer_and_is_offered_as_data(use_endpoint: Use) -> None:
    with FaultServer(script(call_turn(query("年假")), text_turn("摘要。"), ANSWER)) as server:
        use_endpoint(server)
        run = await run_flow(QUESTION, SEARCH, [Turn("assistant", "旧回答[S7]")])
    assert run.finished.text == "十五天[S1]。"
    last = server.requests[-1].body
    assert [message["role"] for message in last["messages"]] == [
        *("system", "assistant", "user", "assistant", "tool"),
    ]
    assert last["messages"][1]["content"] == "旧回答"
    assert last["tool_choice"] == "none"
    assert "<summary>\n摘要。\n</summary>" in last["messages"][-1]["content"]
    assert "可以使用的标签：[S1] [S2]" in last["messages"][-1]["content"]
    assert server.requests[0].body["enable_thinking"] is False


@pytest.mark.parametrize(
    ("turns", "code", "shown"),
    [
        ([text_turn("十五天[S9]。")], "INVALID_CITATION", "十五天"),
        ([text_turn("十五天。")], "MISSING_CITATION", "十五天。"),
        ([text_turn("十五天[S", "1")], "MISSING_CITATION", "十五天[S1"),
        ([text_turn("")], "EMPTY_ANSWER", ""),
        ([{"sse": [{"choices": []}], "end": "done"}], "EMPTY_ANSWER", ""),
        ([text_turn("第一", reason="length")], "ANSWER_TRUNCATED", "第一"),
        ([text_turn("十五", reason="content_filter")], "CONTENT_FILTERED", ""),
        ([call_turn(query("年假"))], "TOOL_LIMIT", ""),
        ([call_turn('{"query": "年')], "MALFORMED_TOOL_CALL", ""),
        ([call_turn(query("a")), text_turn("x", end="close")], "MODEL_UPSTREAM_ERROR", ""),
        (
            [call_turn(query("a")), text_turn("摘要"), text_turn("十五", "天[S1]", end="close")],
            "MODEL_UPSTREAM_ERROR",
            "十五天[S1]",
        ),
        (
            [call_turn(query("a")), text_turn("摘要"), text_turn("十五天[S1]", end="reset")],
            "MODEL_UPSTREAM_ERROR",
            "十五天[S1]",
        ),
    ],
)
async def test_answer_that_breaks_a_rule_fails_the_run(
    use_endpoint: Use, turns: list[dict[str, Any]], code: str, shown: str
) -> None:
    with FaultServer(script(*turns)) as server:
        use_endpoint(server)
        run = await run_flow(QUESTION, SEARCH)
    assert run.error is not None
    assert (run.error.code, run.text) == (code, shown)


@pytest.mark.parametrize(
    "turns",
    [
        [ANSWER],
        [call_turn('["年假"]'), ANSWER],
        [call_turn('{"query": "年'), ANSWER],
        [call_turn(query("a"), query("b"), call_id=""), ANSWER],
        [call_turn(*(query(str(n)) for n in range(9))), ANSWER],
        [text_turn("<thi", "nk>秘密</th", "ink>\n十五天[S1]。")],
        [{"http": 429, "headers": {"Retry-After": "0"}}, ANSWER],
        [{"http": 503, "headers": {"Retry-After": "0"}, "body_text": "<html>"}, ANSWER],
    ],
)
async def test_recoverable_fault_still_gives_the_answer(
    use_endpoint: Use, turns: list[dict[str, Any]]
) -> None:
    with FaultServer(script(*turns)) as server:
        use_endpoint(server)
        run = await run_flow(QUESTION, SEARCH)
    assert (run.error, run.text) == (None, "十五天[S1]。")
    assert 1 <= len(run.of(ToolCalled)) <= 3


@pytest.mark.parametrize(
    "turns",
    [
        [call_turn(query("年假"), query("病假"), call_id="same")],
        [call_turn(query("年假"), call_id="same"), call_turn(query("病假"), call_id="same")],
    ],
)
async def test_searches_that_the_model_gives_the_same_id_keep_their_passages(
    use_endpoint: Use, turns: list[dict[str, Any]]
) -> None:
    places = {QUESTION: 0, "年假": 1, "病假": 2}

    async def search(query: str, *, limit: int, remembered: int = 0) -> list[Any]:
        return [passage(places[query])]

    with FaultServer(script(*turns, ANSWER)) as server:
        use_endpoint(server)
        run = await run_flow(QUESTION, search)
    found = {source.query: source.passage.order_index for source in run.finished.sources}
    assert found == places
    assert len({call.call_id for call in run.of(ToolCalled)}) == len(places)


async def test_marker_becomes_the_refusal(use_endpoint: Use) -> None:
    with FaultServer(script(text_turn("INSUFFI", "CIENT_EVIDENCE", "\n"))) as server:
        use_endpoint(server)
        run = await run_flow(QUESTION, SEARCH)
    assert (run.finished.outcome, run.text) == ("insufficient_evidence", REFUSAL)
    assert "AnswerStarted" not in run.names


async def test_question_is_searched_when_the_models_words_find_too_little(
    use_endpoint: Use,
) -> None:
    queries: list[str] = []
    brief = "员工的年假和病假分别是多少天？"

    async def search(text: str, *, limit: int, remembered: int = 0) -> list[Any]:
        queries.append(text)
        return [passage(0, 0.9 if text == brief else 0.4)]

    asked = intent(route="NEEDS_EXECUTION", execution_brief=brief)
    with FaultServer(script(call_turn(query("a")), ANSWER, intent=[asked])) as server:
        use_endpoint(server)
        run = await run_flow(QUESTION, search)
    assert (queries, run.text) == ([QUESTION, "a", brief], "十五天[S1]。")


async def test_calls_of_a_looping_model_are_bounded_and_all_reported(use_endpoint: Use) -> None:
    with FaultServer(script(call_turn(query("年假")))) as server:
        use_endpoint(server)
        run = await run_flow(QUESTION, SEARCH)
    assert len(server.requests) == len(run.of(ModelCalled)) == 5


@pytest.mark.parametrize(
    "bad", ["not json", "{}", '{"route": "DIRECT_EXECUTION", "intent_summary": "x"}', "[1]"]
)
async def test_invalid_intent_is_repaired_once(use_endpoint: Use, bad: str) -> None:
    good = intent(route="NEEDS_EXECUTION", execution_brief="年假多少天？")
    fenced = {"text": f"```json\n{good['text']}\n```"}
    with FaultServer(script(ANSWER, intent=[{"text": bad}, fenced])) as server:
        use_endpoint(server)
        run = await run_flow(QUESTION, SEARCH)
    assert (run.error, run.text) == (None, "十五天[S1]。")


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"execution_brief": None, "assistant_text": None},
        {"execution_brief": " ", "intent_summary": " "},
        {"execution_brief": QUESTION, "intent_summary": QUESTION, "safety_flags": []},
    ],
)
async def test_intent_need_not_repeat_the_question(
    use_endpoint: Use, said: dict[str, object]
) -> None:
    short = {"text": json.dumps({"route": "NEEDS_EXECUTION", **said}, ensure_ascii=False)}
    with FaultServer(script(ANSWER, intent=[short])) as server:
        use_endpoint(server)
        run = await run_flow(QUESTION, SEARCH)
    result = run.of(StageFinished)[0].result
    assert result.model_dump() == {
        "route": "NEEDS_EXECUTION",
        "intent_summary": QUESTION,
        "assistant_text": None,
        "execution_brief": QUESTION,
        "safety_flags": [],
    }
    assert run.text == "十五天[S1]。"


async def test_intent_that_stays_invalid_fails_the_run(use_endpoint: Use) -> None:
    with FaultServer(script(ANSWER, intent=[{"text": "no"}])) as server:
        use_endpoint(server)
        run = await run_flow(QUESTION, SEARCH)
    assert run.error is not None
    assert (run.error.code, len(server.requests)) == ("INVALID_MODEL_OUTPUT", 2)


async def test_direct_reply_is_the_answer(use_endpoint: Use) -> None:
    direct = intent(route="DIRECT_EXECUTION", assistant_text="你好！")
    with FaultServer(script(ANSWER, intent=[direct])) as server:
        use_endpoint(server)
        run = await run_flow("你好", SEARCH)
    assert (run.finished.outcome, run.text) == ("direct", "你好！")
    assert len(server.requests) == 1


@pytest.mark.parametrize("reply", ["年假是十五天[S1]。", "长" * 601])
async def test_direct_reply_that_cites_or_is_long_goes_to_execution(
    use_endpoint: Use, reply: str
) -> None:
    direct = intent(route="DIRECT_EXECUTION", assistant_text=reply)
    with FaultServer(script(ANSWER, intent=[direct])) as server:
        use_endpoint(server)
        run = await run_flow(QUESTION, SEARCH)
    assert (run.finished.outcome, run.text) == ("answered", "十五天[S1]。")
    flags = run.of(StageFinished)[0].result.safety_flags
    assert flags == ["direct_reply_rejected"]


async def test_history_is_cut_to_the_limit(use_endpoint: Use) -> None:
    history = [Turn("user", f"第{n}条") for n in range(30)]
    with FaultServer(script(ANSWER)) as server:
        use_endpoint(server, history_message_limit=2)
        await run_flow(QUESTION, SEARCH, history)
    contents = [message["content"] for message in server.requests[0].body["messages"][1:]]
    assert contents == ["第28条", "第29条", QUESTION]


async def test_cancelling_the_run_closes_the_upstream_connection(use_endpoint: Use) -> None:
    with FaultServer(script(text_turn("十五天", end="hang"))) as server:
        use_endpoint(server)
        task = asyncio.create_task(run_flow(QUESTION, SEARCH))
        await asyncio.to_thread(server.wait_for_requests, 2)  # the research agent's call hangs
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await asyncio.to_thread(server.wait_until_abandoned, server.requests[1])
    assert task.cancelled()
    assert server.requests[1].is_abandoned


async def test_leaving_the_events_cancels_the_run(use_endpoint: Use) -> None:
    with FaultServer(script(ANSWER)) as server:
        use_endpoint(server)
        events = answer_question(QUESTION, history=[], context=USER, search=SEARCH)
        await anext(events)
        await events.aclose()
        others = asyncio.all_tasks() - {asyncio.current_task()}
    assert others == set()


async def test_pacing_of_the_stand_in_reaches_the_person_piece_by_piece(use_endpoint: Use) -> None:
    with FaultServer(pace=Pace(first_token_s=0.01, tokens_per_s=500)) as server:
        use_endpoint(server)
        run = await run_flow(QUESTION, SEARCH)
    tokens = [event for event in run.events if type(event).__name__ == "TokenProduced"]
    assert len(tokens) > 5
