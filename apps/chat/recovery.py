"""After a crash: no placeholder stays `generating`.

Runs before the web process starts, when no run of it can be alive.
"""

from __future__ import annotations

from apps.chat.endings import StartedTurn, fail_turn
from apps.chat.errors import RunInterruptedError
from apps.chat.models import AgentChatMessage


def recover_runs() -> int:
    """Fail the answers that a dead process left unfinished; return how many there were."""
    left_over = AgentChatMessage.objects.generating().select_related("session")
    turns = [StartedTurn.of(message) for message in left_over]
    for turn in turns:
        fail_turn(turn, RunInterruptedError())
    return len(turns)
