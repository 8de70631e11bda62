"""A client that leaves while its request is being served."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future

import pytest
from asgiref.current_thread_executor import CurrentThreadExecutor
from asgiref.sync import AsyncToSync

from kbqa_project.asgi import LeavingClientHandler

SCOPE = {"type": "http", "method": "GET", "path": "/health", "headers": [], "query_string": b""}


def ended_executor():
    """The executor of an `async_to_sync` call that is over, as asgiref leaves it behind."""
    executor = CurrentThreadExecutor(None)
    over = Future()
    over.set_result(None)
    executor.run_until_future(over)
    return executor


@pytest.mark.django_db
def test_request_whose_client_left_ends_without_an_error():
    class Handler(LeavingClientHandler):
        async def get_response_async(self, request):
            AsyncToSync.executors.current = ended_executor()
            await asyncio.Event().wait()

    messages = [{"type": "http.request"}, {"type": "http.disconnect"}]
    sent = []

    async def receive():
        return messages.pop(0)

    async def send(message):
        sent.append(message)

    asyncio.run(Handler()(SCOPE, receive, send))
    assert (messages, sent) == ([], [])
