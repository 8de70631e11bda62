"""Adds up what the requests for a document's embeddings consumed and cost; stores nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from apps.llm.pricing.charges import cost_of, least_certain

if TYPE_CHECKING:
    from apps.llm.calls import CallBegun, CallEnded
    from apps.llm.pricing.charges import CostSource


@dataclass(frozen=True, slots=True)
class EmbeddingCost:
    """Tokens, micro-yuan, or None when the model has no price, and the least certain source."""

    tokens: int = 0
    cost_micro: int | None = 0
    cost_source: CostSource = "embedded"


class EmbeddingCosts:
    """A `CallLog` for one worker thread; the embedded model makes no requests, so it costs 0."""

    def __init__(self) -> None:
        self._ended: list[CallEnded] = []

    def begin(self, call: CallBegun) -> None:
        """Do nothing: a request that its process does not survive is repeated and charged then."""

    def end(self, call: CallEnded) -> None:
        """Take note of a request."""
        self._ended.append(call)

    def take(self) -> EmbeddingCost:
        """Return the sum of the requests since the last time."""
        ended, self._ended = self._ended, []
        charges = [
            cost_of(call.usage, call.begun.target.model, call.begun.started_at) for call in ended
        ]
        costs = [charge.cost_micro for charge in charges]
        priced = [cost for cost in costs if cost is not None]
        return EmbeddingCost(
            tokens=sum(call.usage.input_tokens for call in ended),
            cost_micro=sum(priced) if len(priced) == len(costs) else None,
            cost_source=least_certain(charge.cost_source for charge in charges),
        )
