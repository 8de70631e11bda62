"""Chooses the models: the configured endpoint's, or the embedded ones when no key is set.

Importing this module and asking for names is cheap; a model is built at its first use.
"""

from __future__ import annotations

from functools import lru_cache
from threading import RLock
from typing import TYPE_CHECKING, Literal

from django.conf import settings
from django.utils.module_loading import import_string

from apps.llm.calls import EMBEDDED_VENDOR
from apps.llm.endpoints.vendors import request_url, vendor_of, vendor_of_model

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from apps.llm.endpoints.retries import RetryPolicy
    from apps.llm.ports import ChatPort, EmbeddingModel
    from kbqa_project.env import Endpoint, Environment

Stage = Literal["intent", "execution", "organization"]

EXTRACTIVE_NAME = "extractive"
EMBEDDED_EMBEDDING_NAME = "multilingual-e5-small (embedded)"

_building = RLock()


def chat_model(stage: Stage) -> BaseChatModel:
    """Return the endpoint's chat model of a stage; stages with the same one share one object.

    Raises:
        ValueError: the embedded model serves the stage.
    """
    env: Environment = settings.ENV
    with _building:
        vendor, model = _choice(env, stage)
        if model is None:
            raise ValueError(f"no endpoint serves the stage {stage}")
        return _remote_chat(env, vendor, model, _retries())


def embedded_chat_model(stage: Stage) -> ChatPort | None:
    """Return the embedded chat model where it serves a stage, else None."""
    with _building:
        return _embedded_chat(settings.ENV) if chat_is_embedded(stage) else None


def embedding_model() -> EmbeddingModel:
    """Return the embedding model of the index and the queries; the same object each time."""
    env: Environment = settings.ENV
    with _building:
        if env.embedding_endpoint is None:
            return _embedded_embeddings(env.embedding_threads)
        return _remote_embeddings(env, env.embedding_endpoint, _retries())


def evidence_threshold() -> float | None:
    """Return the cosine under which a passage is no evidence; None when it is not calibrated."""
    configured: float | None = settings.ENV.evidence_threshold
    return embedding_model().evidence_threshold if configured is None else configured


def chat_is_embedded(stage: Stage) -> bool:
    """Return whether the embedded model serves a stage, which costs nothing."""
    return _choice(settings.ENV, stage)[1] is None


def chat_model_name(stage: Stage) -> str:
    """Return the name under which a stage's model is shown and recorded."""
    return _choice(settings.ENV, stage)[1] or EXTRACTIVE_NAME


def chat_provider(stage: Stage) -> str:
    """Return who serves a stage: `embedded`, a vendor of the catalogue, or an address's host."""
    env: Environment = settings.ENV
    vendor, model = _choice(env, stage)
    if model is None:
        return EMBEDDED_VENDOR
    own = None if vendor is None else _vendor_endpoint(env, vendor, model)
    return _provider(own or env.general_endpoint(model))


def embedding_provider() -> str:
    """Return who embeds: `embedded`, a vendor of the catalogue, or an address's host."""
    return _provider(settings.ENV.embedding_endpoint)


def embedding_model_name() -> str:
    """Return the name of the embedding model, as it is stored with the collection."""
    endpoint = settings.ENV.embedding_endpoint
    return EMBEDDED_EMBEDDING_NAME if endpoint is None else endpoint.model


def _retries() -> RetryPolicy:
    """Return how requests to endpoints are sent again; the flow's configuration has it."""
    policy: RetryPolicy = import_string(settings.ENDPOINT_RETRIES)()
    return policy


def _provider(endpoint: Endpoint | None) -> str:
    """Return what may be shown of an address: never its path, port, user or password."""
    return EMBEDDED_VENDOR if endpoint is None else vendor_of(endpoint.base_url)


def _choice(env: Environment, stage: Stage) -> tuple[str | None, str | None]:
    """Return the vendor whose own key serves a stage's model, if one does, and the model.

    The model is None when no key serves it: then the embedded one does.
    """
    configured: str = getattr(env, f"{stage}_model") or env.chat_model
    prefix, _, rest = configured.partition(":")
    if rest and _vendor_endpoint(env, prefix, rest) is not None:
        return prefix, rest
    vendor = vendor_of_model(configured)
    if vendor is not None and _vendor_endpoint(env, vendor, configured) is not None:
        return vendor, configured
    return None, None if env.chat_endpoint is None else configured


def _vendor_endpoint(env: Environment, vendor: str, model: str) -> Endpoint | None:
    url = request_url(vendor)
    return None if url is None else env.vendor_endpoint(vendor, model, url)


@lru_cache(maxsize=4)
def _embedded_chat(env: Environment) -> ChatPort:
    from apps.llm.extractive.model import ExtractiveChatModel  # noqa: PLC0415 - slow

    return ExtractiveChatModel(_embedded_embeddings(env.embedding_threads))


@lru_cache(maxsize=8)
def _remote_chat(
    env: Environment, vendor: str | None, model: str, retries: RetryPolicy
) -> BaseChatModel:
    from apps.llm.endpoints.openai_compatible import (  # noqa: PLC0415 - slow
        OpenAICompatibleChat,
        TimeLimits,
        load_sdk,
    )

    load_sdk()
    limits = TimeLimits(env.connect_timeout_s, env.first_token_timeout_s, env.idle_timeout_s)
    own = None if vendor is None else _vendor_endpoint(env, vendor, model)
    endpoint = own or env.general_endpoint(model)
    return OpenAICompatibleChat(endpoint=endpoint, limits=limits, retries=retries)


@lru_cache(maxsize=4)
def _remote_embeddings(
    env: Environment, endpoint: Endpoint, retries: RetryPolicy
) -> EmbeddingModel:
    from apps.llm.endpoints.embeddings import OpenAICompatibleEmbeddings  # noqa: PLC0415 - slow

    return OpenAICompatibleEmbeddings(
        endpoint,
        env.embedding_dim,
        timeout_s=env.embedding_timeout_s,
        connect_timeout_s=env.connect_timeout_s,
        retries=retries,
    )


@lru_cache(maxsize=2)
def _embedded_embeddings(threads: int) -> EmbeddingModel:
    from apps.llm.embeddings.bundled import EmbeddedEmbeddings  # noqa: PLC0415 - slow

    return EmbeddedEmbeddings(threads=threads)
