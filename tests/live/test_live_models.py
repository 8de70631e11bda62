"""The configured endpoints themselves: streams, tool calls, vectors, cancelling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from langchain_core.messages import HumanMessage

from apps.llm.calls import CallScope, call_scope
from apps.llm.factory import chat_model, embedding_model
from apps.llm.tests.conftest import Calls

if TYPE_CHECKING:
    from kbqa_project.env import Environment

pytestmark = [pytest.mark.live, pytest.mark.usefixtures("models")]

SEARCH = {
    "type": "function",
    "function": {
        "name": "search_knowledge_base",
        "description": "Searches the person's documents. Always call it before you answer.",
        "parameters": {
            "type": "object",
            "properties": {"query": {"type": "string", "description": "what to search for"}},
            "required": ["query"],
        },
    },
}
TEXTS = [
    *("员工每年享有十五天带薪年假。", "停车证每年三月更新，每张收费二百元。"),
    *(f"第{number}号仓库的钥匙放在{number}号柜子里。" for number in range(10)),
]


async def test_chat_streams_text_and_reports_its_usage() -> None:
    calls = Calls()
    with call_scope(CallScope(calls, "organization")):
        stream = chat_model("organization").astream([HumanMessage("用两句话介绍月亮。")])
        pieces = [piece.text async for piece in stream]
    (call,) = calls.ended
    assert len([piece for piece in pieces if piece]) > 1
    assert (call.status, call.usage.is_estimated) == ("completed", False)
    assert min(call.usage.input_tokens, call.usage.output_tokens) > 0
    assert call.first_token_ms is not None
    assert "<think" not in "".join(pieces)


async def test_model_calls_a_tool_with_the_parameters_of_its_schema() -> None:
    asking = chat_model("execution").bind_tools([SEARCH])
    reply = await asking.ainvoke([HumanMessage("请先用工具检索，再回答：员工年假有多少天？")])
    call = reply.tool_calls[0]
    assert call["name"] == "search_knowledge_base"
    assert set(call["args"]) == {"query"}
    assert call["args"]["query"]


async def test_json_is_answered_when_json_is_asked_for() -> None:
    asking = chat_model("intent").bind(response_format={"type": "json_object"})
    reply = await asking.ainvoke([HumanMessage('用 json 回答，形式为 {"answer": "…"}：一加一？')])
    assert reply.text.strip().startswith("{")
    assert reply.text.strip().endswith("}")


def test_vectors_have_the_configured_dimension_and_meaning(environment: Environment) -> None:
    model = embedding_model()
    matrix = np.array(model.embed_documents(TEXTS))  # more than one request takes
    query = np.array(model.embed_query("带薪年假有多少天？"))
    assert matrix.shape == (len(TEXTS), environment.embedding_dim)
    assert np.linalg.norm(matrix, axis=1).tolist() == pytest.approx([1.0] * len(TEXTS))
    assert int((matrix @ query).argmax()) == 0


async def test_cancelled_call_ends_at_once_and_is_recorded() -> None:
    calls = Calls()
    with call_scope(CallScope(calls, "organization")):
        stream: Any = chat_model("organization").astream([HumanMessage("写一篇长文介绍月亮。")])
        assert (await anext(stream)).text is not None
        await stream.aclose()
    assert [call.status for call in calls.ended] == ["cancelled"]
