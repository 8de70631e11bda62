"""After a crash: no placeholder stays `generating` and no model call stays `running`.

Runs before the web process starts, when no run of it can be alive.
"""

from __future__ import annotations

from django.db import transaction

from apps.chat.costs.billing import book_run
from apps.chat.errors import RunInterruptedError
from apps.chat.models import AgentChatMessage, CallStatus, ModelCall
from apps.chat.turns.endings import StartedTurn, fail_turn


def recover_runs() -> int:
    """Fail the answers that a dead process left unfinished; return how many there were."""
    left_over = AgentChatMessage.objects.generating().select_related("session")
    turns = [StartedTurn.of(message) for message in left_over]
    for turn in turns:
        fail_turn(turn, RunInterruptedError())
    _charge_abandoned_calls()
    return len(turns)


def _charge_abandoned_calls() -> None:
    """Charge the calls of runs that somebody ended (a deletion, say) before their process died."""
    running = ModelCall.objects.filter(status=CallStatus.RUNNING).order_by()
    for session_id, run_id in running.values_list("session_id", "run_id").distinct():
        with transaction.atomic():
            book_run(session_id, run_id)
