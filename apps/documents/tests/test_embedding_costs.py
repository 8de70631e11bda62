"""The requests for a document's embeddings are charged to its job, one by one."""

from __future__ import annotations

from uuid import uuid4

import pytest
from pydantic import SecretStr

from apps.accounts.local_user import local_user
from apps.core.errors import AppError
from apps.documents.indexing import jobs
from apps.documents.indexing.embedding_costs import EmbeddingCost, EmbeddingCosts
from apps.documents.indexing.jobs import Claim
from apps.documents.models import Document, IndexJob
from apps.llm.calls import CallScope, call_scope
from apps.llm.endpoints.embeddings import OpenAICompatibleEmbeddings
from apps.llm.tests.conftest import RETRIES
from kbqa_project.env import Endpoint
from tests.fault_server import FaultServer

TEXTS = ["字" * 101] * 13  # the stand-in counts a token a character


def embed(server: FaultServer, model: str = "text-embedding-v4") -> EmbeddingCost:
    endpoint = Endpoint(SecretStr("sk-x"), server.base_url, model)
    client = OpenAICompatibleEmbeddings(
        endpoint, 8, timeout_s=10.0, connect_timeout_s=5.0, retries=RETRIES
    )
    costs = EmbeddingCosts()
    with call_scope(CallScope(costs, "indexing")):
        try:
            client.embed_documents(TEXTS)
        except AppError:
            assert server.requests
    taken = costs.take()
    assert costs.take() == EmbeddingCost()
    return taken


def test_each_request_is_rounded_by_itself() -> None:
    with FaultServer() as server:
        assert embed(server) == EmbeddingCost(1313, 505 + 152, "custom_pricing")


def test_useless_answer_is_charged() -> None:
    with FaultServer({"calls": [{"values": "nan"}]}) as server:
        assert embed(server) == EmbeddingCost(1010, 505, "custom_pricing")


def test_model_without_a_price_has_no_cost() -> None:
    with FaultServer() as server:
        assert embed(server, "unheard-of") == EmbeddingCost(1313, None, "unpriced")


def test_request_whose_tokens_nobody_reports_is_estimated() -> None:
    vector = {"embedding": [1.0] * 8}
    answers = [{"http": 200, "body": {"data": [vector] * count}} for count in (10, 3)]
    with FaultServer({"calls": answers}) as server:
        assert embed(server) == EmbeddingCost(650 + 195, 325 + 98, "estimated")


@pytest.fixture
def claim(db: None) -> Claim:
    document = Document.objects.create(
        owner=local_user(), filename="a.md", file_type="md", file_size=1, sha256="0" * 64
    )
    job = IndexJob.objects.create(document=document)
    return Claim(job.pk, document.pk, uuid4(), 1)


def figures(claim: Claim) -> tuple[int, int | None, str]:
    job = IndexJob.objects.get(pk=claim.job_id)
    return job.embedding_tokens, job.cost_micro, job.cost_source


def test_costs_add_up_on_the_job(claim: Claim) -> None:
    jobs.add_cost(claim, EmbeddingCost(100, 50, "custom_pricing"))
    jobs.add_cost(claim, EmbeddingCost())
    jobs.add_cost(claim, EmbeddingCost(3, 2, "custom_pricing"))
    assert figures(claim) == (103, 52, "custom_pricing")


def test_estimated_part_marks_the_cost_for_good(claim: Claim) -> None:
    jobs.add_cost(claim, EmbeddingCost(100, 50, "estimated"))
    jobs.add_cost(claim, EmbeddingCost(3, 2, "custom_pricing"))
    assert figures(claim) == (103, 52, "estimated")


def test_job_without_requests_costs_nothing(claim: Claim) -> None:
    jobs.add_cost(claim, EmbeddingCost())
    assert figures(claim) == (0, 0, "embedded")


def test_part_without_a_price_makes_the_cost_unknown_for_good(claim: Claim) -> None:
    jobs.add_cost(claim, EmbeddingCost(100, 50, "custom_pricing"))
    jobs.add_cost(claim, EmbeddingCost(3, None, "unpriced"))
    jobs.add_cost(claim, EmbeddingCost(3, 2, "custom_pricing"))
    assert figures(claim) == (106, None, "unpriced")
