"""Cancelling a run that lives in another web process, through the channel layer.

With the in-memory layer there is no other web process and nobody listens elsewhere; with a shared
layer (channels_redis) every process reaches every run. Only the reason's code travels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer

from apps.chat.errors import RunAbandonedError, RunStoppedError, SessionDeletedError

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from apps.core.errors import AppError

_REASONS = {
    reason.code: reason for reason in (RunAbandonedError, RunStoppedError, SessionDeletedError)
}


def send_cancel(run_id: UUID, reason: AppError) -> None:
    """Tell whichever process has the run to end it; call it outside the event loop's thread."""
    layer = get_channel_layer()
    async_to_sync(layer.group_send)(_group(run_id), {"type": "cancel", "code": reason.code})


async def listen(run_id: UUID, cancel: Callable[[AppError], None]) -> None:
    """Call `cancel` when another process asks for it; runs until it is cancelled itself."""
    layer = get_channel_layer()
    channel = await layer.new_channel()
    await layer.group_add(_group(run_id), channel)
    try:
        message = await layer.receive(channel)
        cancel(_REASONS[message["code"]]())
    finally:
        await layer.group_discard(_group(run_id), channel)


def _group(run_id: UUID) -> str:
    return f"run.{run_id.hex}"
