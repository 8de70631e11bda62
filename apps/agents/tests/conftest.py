"""Passages, a search port over them and ways to run the flow."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from uuid import NAMESPACE_URL, UUID, uuid5

import numpy as np
import pytest

from apps.agents.context import UserAgentContext
from apps.agents.events import RunEvent, RunFinished, TokenProduced, Turn
from apps.agents.flow import answer_question
from apps.core.errors import AppError
from apps.core.passages import Passage, SearchPort
from apps.llm.factory import embedding_model
from kbqa_project import env

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.fault_server import FaultServer

DOCUMENTS = (
    ("员工手册.md", "员工每年享有十五天带薪年假，需提前三天申请。年假可以分两次休完。"),
    ("员工手册.md", "病假需要提供医院证明，每年累计不超过三十天。"),
    ("差旅制度.txt", "差旅住宿标准：一线城市每晚六百元，其他城市每晚四百元。"),
    ("tower.md", "The Eiffel Tower is 330 metres tall. It was completed in 1889 in Paris."),
    ("whales.md", "The blue whale is the largest animal; its heart weighs about 180 kilograms."),
)
USER = UserAgentContext(UUID(int=1), "小明")


@dataclass
class Run:
    """The events of a run and the error that ended it."""

    events: list[RunEvent]
    error: AppError | None = None

    @property
    def text(self) -> str:
        return "".join(e.text for e in self.events if isinstance(e, TokenProduced))

    @property
    def names(self) -> list[str]:
        """The kinds of events, runs of tokens folded into one."""
        names = [type(event).__name__ for event in self.events]
        return [n for i, n in enumerate(names) if n != "TokenProduced" or names[i - 1] != n]

    @property
    def finished(self) -> RunFinished:
        assert isinstance(self.events[-1], RunFinished)
        return self.events[-1]

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


def passage(index: int, score: float = 0.9) -> Passage:
    filename, content = DOCUMENTS[index]
    return Passage(
        chunk_id=uuid5(NAMESPACE_URL, content),
        document_id=uuid5(NAMESPACE_URL, filename),
        filename=filename,
        order_index=index,
        page_number=None,
        start_char=0,
        end_char=len(content),
        heading_path="",
        content=content,
        score=score,
    )


def fixed_search(*passages: Passage) -> SearchPort:
    """Return a port that finds the same passages for every query."""

    async def search(query: str, *, limit: int, remembered: int = 0) -> list[Passage]:
        assert query
        return list(passages)[:limit]

    return search


async def run_flow(question: str, search: SearchPort, history: Sequence[Turn] = ()) -> Run:
    run = Run([])
    try:
        async for event in answer_question(question, history=history, context=USER, search=search):
            run.events.append(event)
    except AppError as error:
        run.error = error
    return run


@pytest.fixture(scope="session")
def real_search() -> SearchPort:
    """A port that ranks DOCUMENTS with the embedded model."""
    model = embedding_model()
    matrix = np.array(model.embed_documents([content for _, content in DOCUMENTS]))

    async def search(query: str, *, limit: int, remembered: int = 0) -> list[Passage]:
        scores = matrix @ np.array(await asyncio.to_thread(model.embed_query, query))
        best = np.argsort(-scores, kind="stable")[:limit]
        return [replace(passage(int(i)), score=float(scores[i])) for i in best]

    return search


@pytest.fixture
def use_endpoint(settings: Any) -> Callable[..., None]:
    """Configure the endpoint of a fault server; keyword arguments are environment fields."""

    def use(server: FaultServer, **overrides: object) -> None:
        settings.ENV = env.load(
            chat_api_key="sk-secret-1234",
            chat_base_url=server.base_url,
            data_dir=settings.ENV.data_dir,
            **overrides,
        )

    return use
