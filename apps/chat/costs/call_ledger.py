"""Keeps the model calls of one run as rows: begun before they are sent, ended with what is known.

Ends are noted at once and written with the next beginning, the next partial save or the end of the
turn, so that a call costs one transaction. A row that was never ended keeps its estimate.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from django.db import transaction

from apps.chat.errors import RunInterruptedError
from apps.chat.models import (
    AGENT_MAX_CHARS,
    MODEL_CODE_MAX_CHARS,
    REQUEST_ID_MAX_CHARS,
    VENDOR_MAX_CHARS,
    CallStatus,
    ModelCall,
)
from apps.core.text.cleaning import clean_text
from apps.llm.calls import EMBEDDED_VENDOR
from apps.llm.pricing.charges import EMBEDDED_CHARGE, Usage, cost_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from apps.llm.calls import CallBegun, CallEnded

ENDED_FIELDS = [
    "status", "input_tokens", "cached_tokens", "cache_creation_tokens", "output_tokens",
    "reasoning_tokens", "seconds", "cost", "cost_source", "price_version", "first_token_ms",
    "latency_ms", "provider_request_id", "raw_usage",
]  # fmt: skip


class CallLedger:
    """The `CallLog` of a run; callable from any thread."""

    def __init__(self, *, session_id: UUID, run_id: UUID, message_id: UUID) -> None:
        self._session_id, self._run_id, self._message_id = session_id, run_id, message_id
        self._unsaved: dict[UUID, CallEnded] = {}
        self._tool_calls: dict[UUID, str] = {}
        self._lock = Lock()
        self._is_closed = False

    def begin(self, call: CallBegun) -> None:
        """Insert a running call with the estimate of its prompt.

        Raises:
            RunInterruptedError: the run has ended, so that nobody would charge the call.
        """
        if call.tool_call_id is not None:
            self._tool_calls[call.id] = call.tool_call_id
        if call.target.vendor == EMBEDDED_VENDOR:
            return  # costs nothing, so its end is early enough; this may be the event loop
        with transaction.atomic():
            if self._is_closed:
                raise RunInterruptedError
            self.save()
            self._row(call, Usage(call.estimated_input_tokens, is_estimated=True)).save(
                force_insert=True
            )

    def end(self, call: CallEnded) -> None:
        """Take note of an end."""
        with self._lock:
            self._unsaved[call.begun.id] = call

    def save(self) -> None:
        """Write the ends that are not written yet; they are kept until they are committed."""
        with self._lock:
            ended = list(self._unsaved.values())
        if not ended:
            return
        with transaction.atomic():
            ModelCall.objects.bulk_create(
                [self._ended_row(call) for call in ended],
                update_conflicts=True,
                unique_fields=["id"],
                update_fields=ENDED_FIELDS,
            )
            transaction.on_commit(lambda: self._forget(ended))

    def close(self) -> None:
        """Write what is known and refuse calls from now on: a search outlives its cancelled run.

        Call it in the transaction that ends the run, whose lock lets no call begin meanwhile.
        """
        self._is_closed = True
        self.save()

    def calls_for(self, tool_call_id: str) -> list[UUID]:
        """Return the ids of the calls that served a tool call."""
        return [call for call, tool_call in self._tool_calls.items() if tool_call == tool_call_id]

    def _forget(self, saved: Iterable[CallEnded]) -> None:
        with self._lock:
            for call in saved:
                self._unsaved.pop(call.begun.id, None)

    def _row(self, call: CallBegun, usage: Usage) -> ModelCall:
        target = call.target
        is_embedded = target.vendor == EMBEDDED_VENDOR
        charge = EMBEDDED_CHARGE if is_embedded else cost_of(usage, target.model, call.started_at)
        return ModelCall(
            id=call.id,
            session_id=self._session_id,
            message_id=self._message_id,
            run_id=self._run_id,
            stage=call.stage,
            agent=call.agent[:AGENT_MAX_CHARS],
            vendor=target.vendor[:VENDOR_MAX_CHARS],
            model_code=target.model[:MODEL_CODE_MAX_CHARS],
            kind=target.kind,
            input_tokens=usage.input_tokens,
            cached_tokens=usage.cached_tokens,
            cache_creation_tokens=usage.cache_creation_tokens,
            output_tokens=usage.output_tokens,
            reasoning_tokens=usage.reasoning_tokens,
            seconds=float(usage.seconds),
            cost=charge.cost_micro,
            cost_source=charge.cost_source,
            price_version=charge.price_version,
            started_at=call.started_at,
        )

    def _ended_row(self, call: CallEnded) -> ModelCall:
        row = self._row(call.begun, call.usage)
        row.status = CallStatus(call.status)
        row.first_token_ms, row.latency_ms = call.first_token_ms, call.latency_ms
        request_id = clean_text(call.provider_request_id or "")
        row.provider_request_id = request_id[:REQUEST_ID_MAX_CHARS] or None
        row.raw_usage = call.raw_usage
        return row
