"""What the tests of the models share: a log of calls, and the extractive model, retries."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from apps.llm.endpoints.retries import RetryPolicy
from apps.llm.extractive.model import ExtractiveChatModel
from apps.llm.factory import embedding_model

if TYPE_CHECKING:
    from apps.llm.calls import CallBegun, CallEnded

RETRIES = RetryPolicy(further_tries=2, first_delay_s=0.5, longest_delay_s=5.0)


@dataclass
class Calls:
    """Keeps what is reported, in order."""

    begun: list[CallBegun] = field(default_factory=list)
    ended: list[CallEnded] = field(default_factory=list)

    def begin(self, call: CallBegun) -> None:
        self.begun.append(call)

    def end(self, call: CallEnded) -> None:
        assert call.begun in self.begun
        self.ended.append(call)


@pytest.fixture(scope="module")
def model() -> ExtractiveChatModel:
    """The embedded chat model on the embedded embeddings."""
    return ExtractiveChatModel(embedding_model())
