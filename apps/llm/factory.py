"""Chooses the models: the configured endpoint's, or the embedded ones when no key is set.

Importing this module and asking for names is cheap; a model is built at its first use.
"""

from __future__ import annotations

from functools import lru_cache
from threading import RLock
from typing import TYPE_CHECKING, Literal

from django.conf import settings

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from apps.llm.ports import EmbeddingModel
    from kbqa_project.env import Environment

Stage = Literal["intent", "execution", "organization"]

EXTRACTIVE_NAME = "extractive"
EMBEDDED_EMBEDDING_NAME = "multilingual-e5-small (embedded)"

_building = RLock()


def chat_model(stage: Stage) -> BaseChatModel:
    """Return the chat model of a stage (one serves all); the same object each time."""
    with _building:
        return _chat_model(settings.ENV)


def embedding_model() -> EmbeddingModel:
    """Return the embedding model of the index and the queries; the same object each time."""
    with _building:
        return _embedding_model(settings.ENV)


def evidence_threshold() -> float | None:
    """Return the cosine under which a passage is no evidence; None when it is not calibrated."""
    configured: float | None = settings.ENV.evidence_threshold
    return embedding_model().evidence_threshold if configured is None else configured


def chat_is_embedded() -> bool:
    """Return whether the embedded model answers, which costs nothing."""
    return settings.ENV.chat_endpoint is None


def chat_model_name(stage: Stage) -> str:
    """Return the name under which a stage's model is shown and recorded."""
    endpoint = settings.ENV.chat_endpoint
    return EXTRACTIVE_NAME if endpoint is None else endpoint.model


def embedding_model_name() -> str:
    """Return the name of the embedding model, as it is stored with the collection."""
    endpoint = settings.ENV.embedding_endpoint
    return EMBEDDED_EMBEDDING_NAME if endpoint is None else endpoint.model


@lru_cache(maxsize=4)
def _chat_model(env: Environment) -> BaseChatModel:
    if env.chat_endpoint is None:
        from apps.llm.embedded.extractive import ExtractiveChatModel  # noqa: PLC0415 - slow

        return ExtractiveChatModel(embeddings=_embedded_embeddings(env.embedding_threads))
    from apps.llm.openai_compatible import (  # noqa: PLC0415 - slow
        OpenAICompatibleChat,
        TimeLimits,
        load_sdk,
    )

    load_sdk()
    limits = TimeLimits(env.connect_timeout_s, env.first_token_timeout_s, env.idle_timeout_s)
    return OpenAICompatibleChat(endpoint=env.chat_endpoint, limits=limits)


@lru_cache(maxsize=4)
def _embedding_model(env: Environment) -> EmbeddingModel:
    if env.embedding_endpoint is None:
        return _embedded_embeddings(env.embedding_threads)
    from apps.llm.openai_compatible import OpenAICompatibleEmbeddings  # noqa: PLC0415 - slow

    return OpenAICompatibleEmbeddings(
        env.embedding_endpoint,
        env.embedding_dim,
        timeout_s=env.embedding_timeout_s,
        connect_timeout_s=env.connect_timeout_s,
        evidence_threshold=env.evidence_threshold,
    )


@lru_cache(maxsize=2)
def _embedded_embeddings(threads: int) -> EmbeddingModel:
    from apps.llm.embedded.embeddings import EmbeddedEmbeddings  # noqa: PLC0415 - slow

    return EmbeddedEmbeddings(threads=threads)
