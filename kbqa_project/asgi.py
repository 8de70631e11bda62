"""ASGI entry point: everything is HTTP; Channels supplies the channel layer only."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

import django
from asgiref.sync import AsyncToSync
from django.core.handlers.asgi import ASGIHandler

if TYPE_CHECKING:
    from django.http import HttpRequest
    from django.http.response import HttpResponseBase


class LeavingClientHandler(ASGIHandler):
    """Django's handler, which also ends a request cleanly when its client left meanwhile.

    A view that is cancelled between the event loop and the thread of the middlewares brings back
    the executor of a call that is over (asgiref 3.13), and `request_finished` then fails on it
    with "CurrentThreadExecutor already quit or is broken", which leaves connections open.
    """

    async def run_get_response(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response; when cancelled, with the executor from before the request."""
        executor = getattr(AsyncToSync.executors, "current", None)
        try:
            return await super().run_get_response(request)
        except asyncio.CancelledError:
            AsyncToSync.executors.current = executor
            raise


os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kbqa_project.settings")
django.setup(set_prefix=False)
application = LeavingClientHandler()
