"""The first search beside the intent stage, and the model calls that it saves."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest

from apps.agents.events import (
    SourcesFound,
    StageFinished,
    StageStarted,
    ToolCalled,
    ToolReturned,
    Turn,
)
from apps.agents.flow import answer_question
from apps.agents.prompts import prompt_config
from apps.agents.tests.conftest import USER, Run, fixed_search, passage, run_flow
from apps.agents.tests.test_flow_faults import (
    ANSWER,
    REFUSAL,
    call_turn,
    intent,
    query,
    script,
    text_turn,
)
from apps.core.errors import AppError
from apps.llm.errors import ModelBusyError
from apps.llm.factory import embedding_model
from apps.llm.tests.conftest import Calls
from kbqa_project.env import load
from tests.fault_server import FaultServer

pytestmark = pytest.mark.asyncio

SIMPLE = "年假有多少天？"
COMPOUND = "年假和病假分别是多少天？"
SEARCH = fixed_search(passage(0), passage(1))
HANGING = text_turn("十五", end="hang")
MARKER = text_turn("INSUFFICIENT_EVIDENCE")
DIRECT = intent(route="DIRECT_EXECUTION", assistant_text="你好！")
Use = Callable[..., None]


class StoreUnavailableError(AppError):
    code = "VECTOR_STORE_UNAVAILABLE"


def queries(run: Run) -> list[object]:
    return [call.arguments["query"] for call in run.of(ToolCalled)]


def ended_by(run: Run) -> list[str]:
    finished = [event for event in run.of(StageFinished) if event.stage == "execution"]
    return [event.result.execution_data["ended_by"] for event in finished]


async def test_simple_question_costs_two_calls_before_the_first_token(use_endpoint: Use) -> None:
    with FaultServer(script(ANSWER)) as server:
        use_endpoint(server)
        run = await run_flow(SIMPLE, SEARCH)
    assert (run.finished.outcome, run.text) == ("answered", "十五天[S1]。")
    assert (len(server.requests), queries(run), ended_by(run)) == (2, [SIMPLE], ["early_search"])
    assert run.names == [
        *("StageStarted", "ModelCalled", "StageFinished"),
        *("StageStarted", "ToolCalled", "ToolReturned", "StageFinished"),
        *("StageStarted", "SourcesFound", "AnswerStarted", "TokenProduced", "ModelCalled"),
        *("StageFinished", "RunFinished"),
    ]


async def test_brief_of_the_code_names_queries_and_sources(use_endpoint: Use) -> None:
    with FaultServer(script(ANSWER)) as server:
        use_endpoint(server)
        run = await run_flow(SIMPLE, SEARCH)
    result = run.of(StageFinished)[1].result
    assert (result.status, result.execution_summary, result.report_brief) == (
        "SUCCESS",
        "检索 1 次，得到 2 个段落。",
        "检索：年假有多少天？。找到：S1 员工手册.md; S2 员工手册.md。",
    )
    sent = server.requests[-1].body["messages"][-1]["content"]
    assert (sent.count("员工手册.md"), "<summary>" in sent) == (2, False)


async def test_compound_question_costs_four_calls_before_the_first_token(
    use_endpoint: Use,
) -> None:
    searching = call_turn(query("年假"))
    with FaultServer(script(searching, text_turn("摘要。"), ANSWER)) as server:
        use_endpoint(server)
        run = await run_flow(COMPOUND, SEARCH)
    assert (len(server.requests), queries(run)) == (4, [COMPOUND, "年假"])
    assert ended_by(run) == ["research_agent"]
    first = server.requests[1].body["messages"]
    assert [message["role"] for message in first] == ["system", "user", "assistant", "tool"]
    assert first[2]["tool_calls"][0]["function"]["arguments"] == query(COMPOUND)


async def test_research_agent_is_not_asked_when_no_search_is_left(use_endpoint: Use) -> None:
    both = call_turn(query("年假"), query("病假"), call_id="")
    with FaultServer(script(both, ANSWER)) as server:
        use_endpoint(server)
        run = await run_flow(COMPOUND, SEARCH)
    assert (len(server.requests), queries(run)) == (3, [COMPOUND, "年假", "病假"])


async def test_research_agent_is_asked_so_often_as_the_workflow_says(use_endpoint: Use) -> None:
    turns = [call_turn(query("年假")), call_turn(query("病假")), ANSWER]
    with FaultServer(script(*turns)) as server:
        use_endpoint(server, max_research_searches=5)
        run = await run_flow(COMPOUND, SEARCH)
    assert (len(server.requests), queries(run)) == (4, [COMPOUND, "年假", "病假"])


async def test_call_that_looks_like_the_first_search_counts_as_the_models(
    use_endpoint: Use,
) -> None:
    turns = [call_turn(query(f"年假{n}"), call_id=f"first_{n}") for n in range(4)]
    with FaultServer(script(*turns, ANSWER)) as server:
        use_endpoint(server, max_research_searches=10)
        run = await run_flow(COMPOUND, SEARCH)
    assert queries(run) == [COMPOUND, "年假0", "年假1"]


async def test_research_goes_on_when_the_main_agent_finds_too_little(use_endpoint: Use) -> None:
    async def search(text: str, *, limit: int, remembered: int = 0) -> list[Any]:
        return [passage(1)] if text == "第二次" else [passage(0)]

    turns = [MARKER, call_turn(query("第二次")), text_turn("摘要。"), text_turn("三十天[S2]。")]
    with FaultServer(script(*turns)) as server:
        use_endpoint(server)
        run = await run_flow(SIMPLE, search)
    assert (run.finished.outcome, run.text) == ("answered", "三十天[S2]。")
    assert (queries(run), ended_by(run)) == (
        [SIMPLE, "第二次"],
        ["early_search", "research_agent"],
    )
    assert [len(found.sources) for found in run.of(SourcesFound)] == [2]
    prompts = [request.body["messages"][0]["content"] for request in server.requests]
    assert ["研究员会继续检索" in prompt for prompt in prompts] == [
        *(False, True, False, False, False),
    ]


async def test_refusal_comes_after_one_further_research(use_endpoint: Use) -> None:
    with FaultServer(script(MARKER, text_turn("没有更多。"), MARKER)) as server:
        use_endpoint(server)
        run = await run_flow(SIMPLE, SEARCH)
    assert (run.finished.outcome, run.text) == ("insufficient_evidence", REFUSAL)
    assert len(server.requests) == 4
    assert [len(found.sources) for found in run.of(SourcesFound)] == [2]


async def test_direct_reply_discards_the_search_and_says_which(use_endpoint: Use) -> None:
    calls = Calls()

    async def search(text: str, *, limit: int, remembered: int = 0) -> list[Any]:
        await asyncio.to_thread(embedding_model().embed_query, text)
        return [passage(0)]

    with FaultServer(script(ANSWER, intent=[DIRECT])) as server:
        use_endpoint(
            server, embedding_api_key="sk-x", embedding_base_url=server.base_url, embedding_dim=8
        )
        flow = answer_question("你好", history=[], context=USER, search=search, calls=calls)
        run = Run([event async for event in flow])
    assert (run.finished.outcome, run.text) == ("direct", "你好！")
    assert (run.of(ToolCalled), run.of(ToolReturned), run.of(SourcesFound)) == ([], [], [])
    (charged,) = [call.begun for call in calls.ended if call.begun.target.kind == "embedding"]
    assert charged.tool_call_id == run.of(StageFinished)[0].discarded_call_id


async def test_direct_reply_survives_a_failing_search(
    use_endpoint: Use, caplog: pytest.LogCaptureFixture
) -> None:
    async def search(text: str, *, limit: int, remembered: int = 0) -> list[Any]:
        raise StoreUnavailableError

    with (
        caplog.at_level(logging.INFO, "apps.agents.research.searches"),
        FaultServer(script(ANSWER, intent=[DIRECT])) as server,
    ):
        use_endpoint(server)
        run = await run_flow("你好", search)
    assert (run.error, run.text) == (None, "你好！")
    assert [record.getMessage() for record in caplog.records] == [
        "a search that was not needed failed: VECTOR_STORE_UNAVAILABLE"
    ]


async def test_failing_search_fails_a_question_and_is_told(use_endpoint: Use) -> None:
    async def search(text: str, *, limit: int, remembered: int = 0) -> list[Any]:
        raise StoreUnavailableError

    with FaultServer(script(ANSWER)) as server:
        use_endpoint(server)
        run = await run_flow(SIMPLE, search)
    assert run.error is not None
    assert run.error.code == "VECTOR_STORE_UNAVAILABLE"
    assert [r.error_code for r in run.of(ToolReturned)] == ["VECTOR_STORE_UNAVAILABLE"]


async def test_failing_intent_ends_the_search(use_endpoint: Use) -> None:
    ended = asyncio.Event()

    async def search(text: str, *, limit: int, remembered: int = 0) -> list[Any]:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return []

    with FaultServer(script(ANSWER, intent=[{"text": "no"}])) as server:
        use_endpoint(server)
        run = await run_flow(SIMPLE, search)
    assert run.error is not None
    assert run.error.code == "INVALID_MODEL_OUTPUT"
    assert ended.is_set()


async def test_first_search_has_the_last_messages_of_a_follow_up(use_endpoint: Use) -> None:
    history = [Turn("user", "第一年有几天年假？"), Turn("assistant", "第一年有五天[S1]。")]
    with FaultServer(script(ANSWER)) as server:
        use_endpoint(server)
        run = await run_flow("那第二年呢？", SEARCH, history)
    assert queries(run)[0] == "第一年有几天年假？\n第一年有五天。\n那第二年呢？"


async def test_first_search_alone_remembers_what_was_cited(use_endpoint: Use) -> None:
    asked: list[int] = []

    async def search(text: str, *, limit: int, remembered: int = 0) -> list[Any]:
        asked.append(remembered)
        return [passage(0)]

    with FaultServer(script(call_turn(query("年假")), text_turn("摘要。"), ANSWER)) as server:
        use_endpoint(server)
        await run_flow(COMPOUND, search)
    assert asked == [3, 0]


async def test_embedded_model_researches_without_the_rule() -> None:
    run = await run_flow(SIMPLE, SEARCH)
    assert (run.finished.outcome, ended_by(run)) == ("answered", ["research_agent"])


@pytest.mark.parametrize(
    ("stage", "turns"),
    [("execution", [HANGING]), ("organization", [text_turn("摘要。"), HANGING])],
)
async def test_stage_that_takes_too_long_fails_the_run(
    use_endpoint: Use, monkeypatch: pytest.MonkeyPatch, stage: str, turns: list[dict[str, Any]]
) -> None:
    loaded = prompt_config()
    limits = loaded.workflow.stage_timeout_s.model_copy(update={stage: 0.3})
    workflow = loaded.workflow.model_copy(update={"stage_timeout_s": limits})
    changed = loaded.model_copy(update={"workflow": workflow})
    monkeypatch.setattr("apps.agents.model_calls.prompt_config", lambda: changed)
    with FaultServer(script(*turns)) as server:
        use_endpoint(server)
        run = await run_flow(COMPOUND, SEARCH)
    assert run.error is not None
    assert (run.error.code, run.of(StageStarted)[-1].stage) == ("MODEL_TIMEOUT", stage)


@pytest.fixture
def no_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """A workflow that sends no request again."""
    loaded = prompt_config()
    once = loaded.workflow.endpoint_retries.model_copy(update={"further_tries": 0})
    workflow = loaded.workflow.model_copy(update={"endpoint_retries": once})
    changed = loaded.model_copy(update={"workflow": workflow})
    monkeypatch.setattr("apps.agents.prompts.loading.prompt_config", lambda: changed)


@pytest.mark.usefixtures("no_retries")
async def test_retries_of_chat_models_are_those_of_the_workflow(use_endpoint: Use) -> None:
    with FaultServer(script({"http": 503, "headers": {"Retry-After": "0"}})) as server:
        use_endpoint(server)
        run = await run_flow(SIMPLE, SEARCH)
    assert run.error is not None
    assert len(server.requests) == 2  # the intent stage, and one try of the main agent


@pytest.mark.usefixtures("no_retries")
async def test_retries_of_embeddings_are_those_of_the_workflow(settings: Any) -> None:
    busy = {"http": 429, "headers": {"Retry-After": "0"}}
    with FaultServer({"calls": [busy]}) as server:
        endpoint = {"embedding_api_key": "sk-x", "embedding_base_url": server.base_url}
        settings.ENV = load(data_dir=settings.ENV.data_dir, **endpoint)
        with pytest.raises(ModelBusyError):
            embedding_model().embed_query("年假")
    assert len(server.requests) == 1
