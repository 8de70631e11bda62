"""The whole flow on the embedded models: what a new installation does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from apps.agents.errors import AppError
from apps.agents.events import ModelCalled, SourcesFound, ToolCalled, ToolReturned, Turn
from apps.agents.tests.conftest import fixed_search, passage, run_flow

if TYPE_CHECKING:
    from apps.core.passages import Passage, SearchPort

pytestmark = pytest.mark.asyncio

REFUSAL_ZH = "资料中没有找到能够回答这个问题的内容。可以换一种问法，或先上传包含相关内容的文档。"
STAGE_1 = ["StageStarted", "ModelCalled", "StageFinished"]


async def test_small_talk_is_answered_without_a_search(real_search: SearchPort) -> None:
    run = await run_flow("你好", real_search)
    assert run.names == [*STAGE_1, "TokenProduced", "RunFinished"]
    assert (run.finished.outcome, run.finished.sources) == ("direct", ())
    assert run.finished.text == run.text


async def test_question_is_answered_with_citations(real_search: SearchPort) -> None:
    run = await run_flow("年假有多少天？", real_search)
    assert run.error is None
    assert [name for name in run.names if name != "ModelCalled"] == [
        *("StageStarted", "StageFinished"),
        *("StageStarted", "ToolCalled", "ToolReturned", "StageFinished", "SourcesFound"),
        *("StageStarted", "AnswerStarted", "TokenProduced", "StageFinished", "RunFinished"),
    ]
    assert run.finished.outcome == "answered"
    assert run.finished.text == run.text
    assert "十五天" in run.text
    assert run.finished.cited_labels == ("S1",)
    assert run.finished.model == "extractive"
    assert run.finished.sources == run.of(SourcesFound)[0].sources
    assert run.finished.sources[0].passage.content == passage(0).content


async def test_english_question_is_answered(real_search: SearchPort) -> None:
    run = await run_flow("How tall is the Eiffel Tower?", real_search)
    assert "330 metres" in run.text
    assert "S1" in run.finished.cited_labels


async def test_absent_fact_is_refused_with_the_sources_that_were_found(
    real_search: SearchPort,
) -> None:
    run = await run_flow("2019年公司的营业额是多少？", real_search)
    assert (run.finished.outcome, run.text) == ("insufficient_evidence", REFUSAL_ZH)
    assert "AnswerStarted" not in run.names
    assert run.finished.sources == run.of(SourcesFound)[0].sources != ()


async def test_nothing_found_is_refused_without_a_call_to_the_main_agent() -> None:
    run = await run_flow("年假有多少天？", fixed_search())
    assert (run.finished.outcome, run.text) == ("insufficient_evidence", REFUSAL_ZH)
    assert run.of(SourcesFound) == [SourcesFound(())]
    assert {call.stage for call in run.of(ModelCalled)} == {"intent", "execution"}


async def test_weak_evidence_is_refused_without_a_call_to_the_main_agent() -> None:
    run = await run_flow("年假有多少天？", fixed_search(passage(0, 0.5)))
    assert (run.finished.outcome, run.text) == ("insufficient_evidence", REFUSAL_ZH)
    assert [source.label for source in run.finished.sources] == ["S1"]
    assert {call.stage for call in run.of(ModelCalled)} == {"intent", "execution"}


async def test_follow_up_is_searched_with_its_context(real_search: SearchPort) -> None:
    history = [Turn("user", "年假有多少天？"), Turn("assistant", "每年十五天带薪年假。[S1]")]
    run = await run_flow("那需要提前几天呢？", real_search, history)
    assert "三天" in run.text
    assert "年假" in str(run.of(ToolCalled)[0].arguments["query"])


async def test_failing_search_fails_the_run_with_its_code() -> None:
    class StoreDownError(AppError):
        code = "VECTOR_STORE_UNAVAILABLE"

    async def search(query: str, *, limit: int, remembered: int = 0) -> list[Passage]:
        raise StoreDownError

    run = await run_flow("年假有多少天？", search)
    assert isinstance(run.error, StoreDownError)
    assert run.of(ToolReturned)[0].error_code == "VECTOR_STORE_UNAVAILABLE"
    assert run.names[-1] == "ToolReturned"


@pytest.mark.parametrize(
    ("question", "told"),
    [
        (
            "年假有多少天，公司的股票代码是多少？",
            "资料中没有找到关于“公司的股票代码是多少”的内容。",
        ),
        (
            "How tall is the Eiffel Tower, and what is the stock symbol?",
            "Nothing was found about “what is the stock symbol”.",
        ),
    ],
)
async def test_part_of_a_question_without_evidence_is_named(
    real_search: SearchPort, question: str, told: str
) -> None:
    run = await run_flow(question, real_search)
    assert run.finished.outcome == "answered"
    assert run.text.split("\n\n")[-1] == told
