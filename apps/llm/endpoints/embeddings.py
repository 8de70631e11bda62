"""Embeddings over an OpenAI-compatible endpoint: checked, retried, reported as calls."""

from __future__ import annotations

import asyncio
import time
from itertools import batched
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import openai

from apps.llm.calls import CallTarget, OpenCall
from apps.llm.embeddings.checked_vectors import checked_vectors
from apps.llm.endpoints.vendor_errors import (
    UPSTREAM_FAILURES,
    app_error,
    may_retry,
    retry_after_s,
    was_refused,
)
from apps.llm.endpoints.vendors import vendor_of
from apps.llm.pricing.usage import kept_usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apps.llm.endpoints.retries import RetryPolicy
    from kbqa_project.env import Endpoint

EMBEDDING_BATCH = 10  # DashScope's limit of texts per request


class OpenAICompatibleEmbeddings:
    """An `EmbeddingModel` behind an endpoint; documents in threads, a query also in a loop."""

    batch_size = EMBEDDING_BATCH
    evidence_threshold: float | None = None  # not calibrated

    def __init__(
        self,
        endpoint: Endpoint,
        dimension: int,
        *,
        timeout_s: float,
        connect_timeout_s: float,
        retries: RetryPolicy,
    ) -> None:
        self.name = endpoint.model
        self.dimension = dimension
        self._retries = retries
        self._target = CallTarget("embedding", vendor_of(endpoint.base_url), endpoint.model)
        self._options: dict[str, Any] = {
            "api_key": endpoint.api_key.get_secret_value(),
            "base_url": endpoint.base_url,
            "timeout": openai.Timeout(timeout_s, connect=connect_timeout_s),
            "max_retries": 0,
        }
        self._client = openai.OpenAI(**self._options)
        # Connections belong to an event loop, so each loop has its own client.
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, openai.AsyncOpenAI] = (
            WeakKeyDictionary()
        )

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return one unit vector per text, in order; see `EmbeddingModel`."""
        vectors: list[list[float]] = []
        for batch in batched(texts, EMBEDDING_BATCH):
            vectors += self._embed_batch(batch)
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """Return the unit vector of a query; see `EmbeddingModel`."""
        return self._embed_batch([text])[0]

    async def aembed_query(self, text: str) -> list[float]:
        """Do the same in an event loop; cancelling closes the connection."""
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            self._clients[loop] = openai.AsyncOpenAI(**self._options)
        create = self._clients[loop].embeddings.with_raw_response.create
        for attempt in range(self._retries.further_tries + 1):
            try:
                async with OpenCall(self._target, [text], was_refused=was_refused) as call:
                    body = _body(await create(**self._request([text])), call)
                break
            except UPSTREAM_FAILURES as error:
                await asyncio.sleep(self._pause_s(error, attempt))
        return checked_vectors(body, count=1, dimension=self.dimension)[0]

    def _embed_batch(self, texts: Sequence[str]) -> list[list[float]]:
        create = self._client.embeddings.with_raw_response.create
        for attempt in range(self._retries.further_tries + 1):
            try:
                with OpenCall(self._target, texts, was_refused=was_refused) as call:
                    body = _body(create(**self._request(texts)), call)
                break
            except UPSTREAM_FAILURES as error:
                time.sleep(self._pause_s(error, attempt))
        return checked_vectors(body, count=len(texts), dimension=self.dimension)

    def _request(self, texts: Sequence[str]) -> dict[str, Any]:
        return {
            "input": list(texts),
            "model": self.name,
            "dimensions": self.dimension,
            "encoding_format": "float",
        }

    def _pause_s(self, error: Exception, attempt: int) -> float:
        """Return the seconds before the next try; raise our error when there is none."""
        if attempt == self._retries.further_tries or not may_retry(error):
            raise app_error(error) from None
        return self._retries.delay_s(attempt, retry_after_s(error))


def _body(response: Any, call: OpenCall) -> object:
    body = response.http_response.json()
    if isinstance(body, dict):
        call.raw_usage = kept_usage(body.get("usage"))
        request_id = body.get("id")
        call.provider_request_id = request_id if isinstance(request_id, str) else None
    return body
