"""What a question about one fact costs: model calls, and tokens as prices estimate them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID

import pytest

from apps.agents.events import SourcesFound, ToolReturned, Turn
from apps.agents.flow import answer_question
from apps.agents.tests.conftest import USER, Run, fixed_search, passage
from apps.agents.tests.test_flow_faults import script, text_turn
from tests.fault_server import FaultServer
from tests.prompt_tokens import prompt_tokens

if TYPE_CHECKING:
    from apps.core.passages import Passage

pytestmark = pytest.mark.asyncio

MOST_TOKENS = 1700
CHUNK_CHARS = 500
TOP_K = 5
QUESTIONS = {
    "zh-CN": ("仓库的灭火器多久检查一次？", "叉车停放在三号门旁边的划线区域内。"),
    "en-US": ("How often are the extinguishers of the store checked?", "Forklifts park by gate. "),
}
PRODUCT = {"zh-CN": "自托管的知识库", "en-US": "self-hosted question answering"}
Use = Callable[..., None]


def full_passages(question: str, filler: str) -> list[Passage]:
    """Return as many passages as a search finds, of full length; the best has the answer."""
    text = (question + filler * CHUNK_CHARS)[:CHUNK_CHARS]
    others = [(filler * CHUNK_CHARS)[start : start + CHUNK_CHARS] for start in range(1, TOP_K)]
    return [
        replace(
            passage(0, 0.8 - 0.02 * rank),
            chunk_id=UUID(int=rank),
            order_index=rank,
            content=content,
        )
        for rank, content in enumerate([text, *others])
    ]


async def ask(language: str, question: str, history: tuple[Turn, ...] = ()) -> Run:
    found = full_passages(*QUESTIONS[language])
    user = replace(USER, ai_language=language)
    search = fixed_search(*found)
    events = answer_question(question, history=history, context=user, search=search)
    return Run([event async for event in events])


@pytest.mark.parametrize("language", list(QUESTIONS))
async def test_question_about_one_fact_stays_in_the_budget(
    use_endpoint: Use, language: str
) -> None:
    with FaultServer() as server:
        use_endpoint(server)
        run = await ask(language, QUESTIONS[language][0])
    assert run.finished.outcome == "answered"
    assert len(server.requests) <= 2
    assert sum(prompt_tokens(request.body) for request in server.requests) <= MOST_TOKENS


async def test_writer_reads_the_passages_that_end_the_research(use_endpoint: Use) -> None:
    with FaultServer() as server:
        use_endpoint(server)
        run = await ask("zh-CN", QUESTIONS["zh-CN"][0])
    assert [returned.hit_count for returned in run.of(ToolReturned)] == [TOP_K]
    (sources,) = run.of(SourcesFound)
    assert [s.passage.order_index for s in sources.sources] == [0, 1, 2]
    sent = server.requests[-1].body["messages"][-1]["content"]
    assert [f"[S{n}] " in sent for n in (1, 2, 3, 4)] == [True, True, True, False]


async def test_research_goes_on_with_all_passages(use_endpoint: Use) -> None:
    found = full_passages("灭火器多久检查一次", "叉车停放在三号门旁边。")
    asked = "灭火器多久检查？"
    with FaultServer(script(text_turn("INSUFFICIENT_EVIDENCE"))) as server:
        use_endpoint(server)
        events = answer_question(asked, history=[], context=USER, search=fixed_search(*found))
        run = Run([event async for event in events])
    assert run.finished.outcome == "insufficient_evidence"
    counts = [
        str(request.body["messages"][-1]["content"]).count("员工手册.md")
        for request in server.requests
    ]
    assert counts == [0, 3, TOP_K, TOP_K]


@pytest.mark.parametrize("language", list(QUESTIONS))
async def test_prompts_of_a_person_begin_alike(use_endpoint: Use, language: str) -> None:
    question = QUESTIONS[language][0]
    history = (Turn("user", "问"), Turn("assistant", "答"))
    with FaultServer() as server:
        use_endpoint(server)
        await ask(language, question)
        await ask(language, question.replace("?", " now?").replace("？", "呢？"), history)
    first, second = server.requests[:2], server.requests[2:]
    assert len(first) == len(second) == 2
    for before, after in zip(first, second, strict=True):
        assert before.body["messages"][0] == after.body["messages"][0]
        assert before.body.get("tools") == after.body.get("tools")
        assert after.body["messages"][-1] != after.body["messages"][0]


@pytest.mark.parametrize("language", list(QUESTIONS))
@pytest.mark.parametrize(("question", "is_told"), [("你是谁？", True), ("灭火器在哪？", False)])
async def test_product_is_described_where_a_direct_reply_may_use_it(
    use_endpoint: Use, language: str, question: str, *, is_told: bool
) -> None:
    with FaultServer() as server:
        use_endpoint(server)
        await ask(language, question)
    prompt = server.requests[0].body["messages"][0]["content"]
    assert (PRODUCT[language] in prompt) is is_told
