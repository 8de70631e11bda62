"""Ends a stage that takes longer than workflow.yaml allows."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from apps.agents.prompts import blueprints
from apps.llm.errors import ModelTimeoutError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from apps.agents.events import Stage


@asynccontextmanager
async def stage_limit(stage: Stage) -> AsyncIterator[None]:
    """Cancel what is inside when the stage's time is over.

    Raises:
        ModelTimeoutError: it was over.
    """
    seconds: float = getattr(blueprints().workflow.stage_timeout_s, stage)
    try:
        async with asyncio.timeout(seconds) as limit:
            yield
    except TimeoutError:
        if limit.expired():
            raise ModelTimeoutError from None
        raise
