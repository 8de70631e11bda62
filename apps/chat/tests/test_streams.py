"""Streams of runs that this process does not have, and who may read a stream.

Running answers are streamed by a real server in `tests/question_flow`.
"""

from __future__ import annotations

import asyncio
import json

import pytest
from asgiref.sync import async_to_sync, sync_to_async

from apps.chat.errors import RunStoppedError
from apps.chat.models import AgentChatMessage
from apps.chat.runs import answering
from apps.chat.sessions import create_session
from apps.chat.tests.conftest import finished_transcript
from apps.chat.turns.endings import fail_turn, finish_turn
from apps.chat.turns.start import start_turn

pytestmark = pytest.mark.django_db(transaction=True)


def page_address(turn):
    return f"/chat/{turn.session_id}/stream?run={turn.run_id}"


async def body_of(response):
    return b"".join([part async for part in response.streaming_content]).decode()


def event_names(body):
    return [
        line.removeprefix("event: ") for line in body.splitlines() if line.startswith("event: ")
    ]


async def test_page_stream_of_an_ended_run_brings_only_its_end(async_client, session):
    turn = await sync_to_async(start_turn)(session, "一")
    await sync_to_async(finish_turn)(turn, finished_transcript())
    response = await async_client.get(page_address(turn))
    body = await body_of(response)
    assert body.startswith(": ping\n\n")
    assert "十五天。" in body
    assert response.headers["Cache-Control"] == "no-store"
    assert "token" not in event_names(body)


async def test_page_stream_waits_for_a_run_of_another_process(async_client, session):
    turn = await sync_to_async(start_turn)(session, "一")
    response = await async_client.get(page_address(turn))
    reading = asyncio.create_task(body_of(response))
    await sync_to_async(fail_turn)(turn, RunStoppedError())
    assert "已停止</div>" in await reading


async def test_page_stream_takes_any_last_event_id(async_client, session):
    turn = await sync_to_async(start_turn)(session, "一")
    await sync_to_async(finish_turn)(turn, finished_transcript())
    response = await async_client.get(page_address(turn), headers={"Last-Event-ID": "9" * 5000})
    assert "十五天。" in await body_of(response)


@pytest.mark.parametrize("run", ["", "x", "00000000-0000-4000-8000-000000000000"])
def test_page_stream_of_an_unknown_run_is_not_found(client, session, run):
    assert client.get(f"/chat/{session.id}/stream?run={run}").status_code == 404


def test_page_stream_of_a_foreign_run_is_not_found(client, django_user_model):
    stranger = django_user_model.objects.create(username="stranger")
    turn = start_turn(create_session(stranger), "geheim")
    assert client.get(page_address(turn)).status_code == 404


def test_page_stream_without_login_leads_to_the_login_page(client, settings, session):
    turn = start_turn(session, "一")
    settings.LOCAL_MODE = False
    response = client.get(page_address(turn))
    assert (response.status_code, response.url.startswith("/accounts/login/")) == (302, True)


def test_question_without_login_is_refused(client, settings, session):
    settings.LOCAL_MODE = False
    body = json.dumps({"session_id": str(session.id), "query": "年假？"})
    response = client.post("/api/v1/chat/stream", body, content_type="application/json")
    assert response.status_code == 401
    assert session.messages.count() == 0


async def test_json_stream_runs_the_real_flow_in_process(async_client, session):
    response = await async_client.post(
        "/api/v1/chat/stream",
        json.dumps({"session_id": str(session.id), "query": "你好"}),
        content_type="application/json",
    )
    assert event_names(await body_of(response)) == ["token", "done"]
    answer = await AgentChatMessage.objects.aget(session=session, role="assistant")
    assert (answer.status, answer.metadata["outcome"]) == ("completed", "direct")
    assert [row.metadata["stage"] async for row in session.messages.filter(seq__lt=0)] == [
        "intent"
    ]


async def test_question_whose_client_leaves_while_it_is_stored_ends(session):
    asking = asyncio.create_task(answering.ask(session, "你好"))
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking

    async def has_ended():
        answer = await AgentChatMessage.objects.filter(role="assistant").afirst()
        return answer is not None and answer.status != "generating"

    async with asyncio.timeout(30):
        while not await has_ended():  # noqa: ASYNC110 - the database has no event to wait for
            await asyncio.sleep(0.02)
    answer = await AgentChatMessage.objects.aget(role="assistant")
    assert answer.error_code == "DISCONNECTED"


def test_run_started_by_a_short_lived_event_loop_is_ended_with_it(session):
    turn = async_to_sync(answering.ask)(session, "年假多少天？")
    answer = AgentChatMessage.objects.get(id=turn.message_id)
    assert (answer.status, answer.error_code) == ("failed", "INTERRUPTED")
