"""A prompt that the endpoint refuses as too long is sent again: without the oldest history first,
then without the lowest-ranked passages.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from apps.agents.answer.agent import build_main_agent
from apps.agents.answer.stage import write_answer
from apps.agents.context import RunContext, RunLimits
from apps.agents.errors import InvalidCitationError
from apps.agents.events import ContextTrimmed, RunEvent, TokenProduced, Turn
from apps.agents.intent.stage import recognise_intent
from apps.agents.messages import SEARCH_TOOL, evidence_content, search_content
from apps.agents.research.agent import build_research_agent
from apps.agents.tests.conftest import USER, fixed_search, passage, run_flow
from apps.agents.tests.test_flow_faults import ANSWER, intent, script, text_turn
from apps.agents.trimming import within_context
from apps.core.passages import Evidence, Search, Source
from apps.llm.errors import AnswerTruncatedError, ContextTooLongError
from apps.llm.factory import chat_model
from apps.llm.tests.conftest import Calls
from tests.fault_server import FaultServer, Request
from tests.prompt_limit import ERRORS, PromptLimit

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    from apps.agents.answer.answer_stream import AnswerStream
    from apps.agents.context import UserAgentContext

pytestmark = pytest.mark.asyncio

Use = Callable[..., None]
Sent = list[tuple[str, str]]

QUESTION = "年假多少天？"
BRIEF = "摘要。"
HISTORY = tuple(
    Turn("user" if number % 2 == 0 else "assistant", f"第{number}条" * 25) for number in range(6)
)
EARLIER: Sent = [(turn.role, turn.content) for turn in HISTORY]
NEWER = EARLIER[4:]  # of the newer half, from a question on
ASKED = ("user", QUESTION)
PASSAGES = (passage(0, 0.9), passage(1, 0.8), passage(3, 0.7), passage(4, 0.6))
RANKED = [passage(0, 0.5), passage(1, 0.9), passage(3, 0.6), passage(4, 0.8)]
SOURCES = tuple(
    Source(f"S{number}", found, QUESTION) for number, found in enumerate(RANKED, start=1)
)
EVIDENCE = Evidence(QUESTION, (QUESTION,), SOURCES, BRIEF)


@dataclass
class Heard:
    """What a stage reports."""

    events: list[RunEvent] = field(default_factory=list)
    calls: Calls = field(default_factory=Calls)

    @property
    def trims(self) -> list[ContextTrimmed]:
        return [event for event in self.events if isinstance(event, ContextTrimmed)]

    @property
    def text(self) -> str:
        return "".join(e.text for e in self.events if isinstance(e, TokenProduced))

    @property
    def statuses(self) -> list[str]:
        return [call.status for call in self.calls.ended]


def run_of(heard: Heard, user: UserAgentContext = USER) -> RunContext:
    return RunContext(
        question=QUESTION,
        history=HISTORY,
        user=user,
        search=fixed_search(*PASSAGES),
        limits=RunLimits(top_k=5, max_searches=3, max_sources=8, evidence_threshold=None),
        emit=heard.events.append,
        calls=heard.calls,
    )


def sent(request: Request) -> Sent:
    """Return what a model read besides system prompt and tool calls."""
    messages = [m for m in request.body["messages"] if m["role"] != "system" and m["content"]]
    return [(message["role"], message["content"]) for message in messages]


def size(prompt: Sent) -> int:
    return sum(len(text) for _role, text in prompt)


INTENT_PROMPTS = [[*EARLIER, ASKED], [*NEWER, ASKED], [ASKED]]
INTENT_TRIMS = [ContextTrimmed("intent", 4, 0), ContextTrimmed("intent", 6, 0)]


@pytest.mark.parametrize("accepted", range(len(INTENT_PROMPTS)))
@pytest.mark.parametrize("form", ERRORS)
async def test_intent_stage_drops_the_oldest_history(
    use_endpoint: Use, form: str, accepted: int
) -> None:
    heard = Heard()
    with FaultServer(limit=PromptLimit(size(INTENT_PROMPTS[accepted]), form)) as server:
        use_endpoint(server)
        result = await recognise_intent(chat_model("intent"), run_of(heard))
    assert result.execution_brief == QUESTION
    assert [sent(request) for request in server.requests] == INTENT_PROMPTS[: accepted + 1]
    assert heard.trims == INTENT_TRIMS[:accepted]
    assert heard.statuses == ["failed"] * accepted + ["completed"]
    assert [call.usage.input_tokens > 0 for call in heard.calls.ended] == [
        *[False] * accepted,
        True,
    ]


async def test_repair_of_the_intent_starts_from_the_prompt_that_was_accepted(
    use_endpoint: Use,
) -> None:
    heard = Heard()
    good = intent(route="NEEDS_EXECUTION", execution_brief=QUESTION)
    limit = PromptLimit(size(INTENT_PROMPTS[1]) + 100)
    with FaultServer(script(ANSWER, intent=[{"text": "no"}, good]), limit=limit) as server:
        use_endpoint(server)
        await recognise_intent(chat_model("intent"), run_of(heard))
    prompts = [sent(request) for request in server.requests]
    assert prompts[:2] == INTENT_PROMPTS[:2]
    assert prompts[2][:-1] == [*INTENT_PROMPTS[1], ("assistant", "no")]
    assert len(prompts) == 3


async def test_intent_stage_fails_when_the_question_alone_is_too_long(use_endpoint: Use) -> None:
    heard = Heard()
    with FaultServer(limit=PromptLimit(size([ASKED]) - 1)) as server:
        use_endpoint(server)
        with pytest.raises(ContextTooLongError):
            await recognise_intent(chat_model("intent"), run_of(heard))
    assert [sent(request) for request in server.requests] == INTENT_PROMPTS
    assert heard.statuses == ["failed"] * 3


def search_prompts(run: RunContext, *kept: int, searches: int = 1) -> list[Sent]:
    """Return the prompts of the research agent with so many passages per search."""
    return [
        [ASKED, *[("tool", search_content(PASSAGES[:count], run))] * searches] for count in kept
    ]


def searched(run: RunContext, *call_ids: str) -> list[BaseMessage]:
    """Return the question and its searches, each of which found PASSAGES."""
    messages: list[BaseMessage] = [HumanMessage(QUESTION)]
    for call_id in call_ids:
        call = {
            "name": SEARCH_TOOL,
            "args": {"query": QUESTION},
            "id": call_id,
            "type": "tool_call",
        }
        found = search_content(PASSAGES, run)
        messages += [
            AIMessage("", tool_calls=[call]),
            ToolMessage(found, tool_call_id=call_id, name=SEARCH_TOOL, artifact=PASSAGES),
        ]
    return messages


async def research(run: RunContext) -> str:
    agent = build_research_agent(chat_model("execution"), "zh")
    run = replace(run, searches=[Search(QUESTION, PASSAGES)])
    state = await agent.ainvoke({"messages": searched(run, "c0")}, context=run)
    assert state["messages"][2].artifact == PASSAGES  # the evidence keeps what a prompt left out
    return str(state["messages"][-1].text)


RESEARCH_TRIMS = [ContextTrimmed("execution", 0, 2), ContextTrimmed("execution", 0, 3)]


@pytest.mark.parametrize("accepted", range(3))
async def test_research_agent_drops_the_lowest_ranked_passages(
    use_endpoint: Use, accepted: int
) -> None:
    heard = Heard()
    run = run_of(heard)
    prompts = search_prompts(run, 4, 2, 1)
    limit = PromptLimit(size(prompts[accepted]))
    with FaultServer(script(text_turn(BRIEF)), limit=limit) as server:
        use_endpoint(server)
        assert await research(run) == BRIEF
    assert [sent(request) for request in server.requests] == prompts[: accepted + 1]
    assert heard.trims == RESEARCH_TRIMS[:accepted]
    assert heard.statuses == ["failed"] * accepted + ["completed"]


async def test_stage_goes_on_with_the_prompt_that_was_accepted(use_endpoint: Use) -> None:
    heard = Heard()
    run = run_of(heard)
    (last,) = search_prompts(run, 2, searches=2)
    with FaultServer(script(text_turn(BRIEF)), limit=PromptLimit(size(last))) as server:
        use_endpoint(server)
        send = chat_model("execution").ainvoke
        for call_ids in (("c0",), ("c0", "c1")):
            messages = searched(run, *call_ids)
            await within_context(send, messages, stage="execution", run=run)
    assert [sent(request) for request in server.requests] == [*search_prompts(run, 4, 2), last]
    assert heard.trims == [RESEARCH_TRIMS[0], RESEARCH_TRIMS[0]]
    calls = server.requests[-1].body["messages"]
    assert [calls[1]["tool_calls"][0]["id"], calls[3]["tool_calls"][0]["id"]] == ["c0", "c1"]
    assert [calls[2]["tool_call_id"], calls[4]["tool_call_id"]] == ["c0", "c1"]


async def test_research_agent_fails_when_one_passage_is_too_much(use_endpoint: Use) -> None:
    heard = Heard()
    run = run_of(heard)
    prompts = search_prompts(run, 4, 2, 1)
    with FaultServer(script(ANSWER), limit=PromptLimit(size(prompts[-1]) - 1)) as server:
        use_endpoint(server)
        with pytest.raises(ContextTooLongError):
            await research(run)
    assert [sent(request) for request in server.requests] == prompts
    assert heard.statuses == ["failed"] * 3


def answer_prompts(run: RunContext) -> list[Sent]:
    """Return the prompts of the main agent, the longest first."""
    best, two_best = SOURCES[1:2], (SOURCES[1], SOURCES[3])
    whole, half, least = (
        ("tool", evidence_content(Evidence(QUESTION, (QUESTION,), sources, summary), run))
        for summary, sources in ((BRIEF, SOURCES), ("", two_best), ("", best))
    )
    return [
        [*EARLIER, ASKED, whole],
        [*NEWER, ASKED, whole],
        [ASKED, whole],
        [ASKED, half],
        [ASKED, least],
    ]


ANSWER_TRIMS = [
    ContextTrimmed("organization", 4, 0),
    ContextTrimmed("organization", 6, 0),
    ContextTrimmed("organization", 6, 2, ("S1", "S3")),
    ContextTrimmed("organization", 6, 3, ("S1", "S3", "S4")),
]


async def answer(run: RunContext) -> AnswerStream | None:
    async def unused(_query: str, _run: RunContext) -> Any:
        raise AssertionError

    agent = build_main_agent(chat_model("organization"), "zh", unused)
    return await write_answer(agent, EVIDENCE, run)


@pytest.mark.parametrize("accepted", range(5))
async def test_main_agent_drops_the_history_and_then_the_lowest_ranked_sources(
    use_endpoint: Use, accepted: int
) -> None:
    heard = Heard()
    run = run_of(heard)
    prompts = answer_prompts(run)
    limit = PromptLimit(size(prompts[accepted]))
    with FaultServer(script(text_turn("三十天[S2]。")), limit=limit) as server:
        use_endpoint(server)
        stream = await answer(run)
    assert stream is not None
    assert (stream.text, stream.cited) == ("三十天[S2]。", ("S2",))
    assert [sent(request) for request in server.requests] == prompts[: accepted + 1]
    assert heard.trims == ANSWER_TRIMS[:accepted]
    assert heard.statuses == ["failed"] * accepted + ["completed"]
    *_, call, result = server.requests[-1].body["messages"]
    assert call["tool_calls"][0]["id"] == result["tool_call_id"]


@pytest.mark.parametrize(("accepted", "text"), [(2, "十五天[S1]。"), (3, "十五天")])
async def test_label_of_a_dropped_source_is_invalid(
    use_endpoint: Use, accepted: int, text: str
) -> None:
    heard = Heard()
    run = run_of(heard)
    limit = PromptLimit(size(answer_prompts(run)[accepted]))
    with FaultServer(script(text_turn("十五天", "[S1]。")), limit=limit) as server:
        use_endpoint(server)
        if accepted == 2:
            await answer(run)
        else:
            with pytest.raises(InvalidCitationError):
                await answer(run)
    assert heard.text == text


async def test_main_agent_fails_when_one_source_is_too_much(use_endpoint: Use) -> None:
    heard = Heard()
    run = run_of(heard)
    prompts = answer_prompts(run)
    with FaultServer(script(ANSWER), limit=PromptLimit(size(prompts[-1]) - 1)) as server:
        use_endpoint(server)
        with pytest.raises(ContextTooLongError):
            await answer(run)
    assert [sent(request) for request in server.requests] == prompts
    assert heard.statuses == ["failed"] * 5


async def test_reply_that_outgrows_the_context_is_not_asked_for_again(use_endpoint: Use) -> None:
    heard = Heard()
    delta = {"choices": [{"index": 0, "delta": {"content": "三十天"}}]}
    outgrown = {"sse": [delta, {"error": ERRORS["openai"]}], "end": "done"}
    with FaultServer(script(outgrown)) as server:
        use_endpoint(server)
        with pytest.raises(AnswerTruncatedError):
            await answer(run_of(heard))
    assert (len(server.requests), heard.text) == (1, "三十天")


async def test_run_with_a_long_history_is_answered(use_endpoint: Use) -> None:
    history = [Turn("user" if n % 2 == 0 else "assistant", str(n) * 3000) for n in range(4)]
    with FaultServer(script(ANSWER), limit=PromptLimit(2500)) as server:
        use_endpoint(server)
        run = await run_flow(QUESTION, fixed_search(*PASSAGES), history)
    assert (run.error, run.text) == (None, "十五天[S1]。")
    assert run.of(ContextTrimmed) == [
        ContextTrimmed("intent", 2, 0),
        ContextTrimmed("intent", 4, 0),
        ContextTrimmed("organization", 2, 0),
        ContextTrimmed("organization", 4, 0),
    ]


async def test_run_fails_clearly_when_nothing_is_left_to_leave_out(use_endpoint: Use) -> None:
    with FaultServer(script(ANSWER), limit=PromptLimit(3)) as server:
        use_endpoint(server)
        run = await run_flow(QUESTION, fixed_search(*PASSAGES))
    assert run.error is not None
    assert (run.error.code, len(server.requests)) == ("CONTEXT_TOO_LONG", 1)
