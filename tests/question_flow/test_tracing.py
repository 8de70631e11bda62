"""Tracing in LangSmith: what is sent, and that an answer and an exit never wait for it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from kbqa_project.env import BASE_DIR
from tests.question_flow.chat_server import ChatServer, text_of
from tests.question_flow.conftest import HANDBOOK
from tests.question_flow.trace_collector import (
    TraceCollector,
    refusing_endpoint,
    silent_endpoint,
)
from tests.server_process import product_environment, wait_until

# Left to itself the SDK holds the exit for 13 s at a closed port and for minutes at a silent one;
# the bound leaves a busy machine the time to end the command's other processes.
EXIT_WITHIN_S = 30
KEY = "lsv2-key-never-shown"
UNREACHABLE = {"refusing": refusing_endpoint, "silent": silent_endpoint}


def tracing(endpoint: str) -> dict[str, str]:
    return {
        "LANGSMITH_TRACING": "true",
        "LANGSMITH_API_KEY": KEY,
        "LANGSMITH_ENDPOINT": endpoint,
    }


@pytest.fixture(params=UNREACHABLE)
def unreachable(request):
    with UNREACHABLE[request.param]() as endpoint:
        yield endpoint


def test_command_answers_and_ends_while_langsmith_is_unreachable(tmp_path, unreachable):
    environment = product_environment(tmp_path, **tracing(unreachable))
    with subprocess.Popen(
        [sys.executable, "manage.py", "ask", "你好"],
        cwd=BASE_DIR,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            answer = process.stdout.readline()
            _rest, errors = process.communicate(timeout=EXIT_WITHIN_S)
        finally:
            process.kill()

    assert (process.returncode, answer[:2]) == (0, "你好")
    assert len([line for line in errors.splitlines() if "LangSmith" in line]) <= 1
    assert KEY[:5] not in errors


def test_server_answers_and_ends_while_langsmith_is_silent(tmp_path):
    with (
        silent_endpoint() as endpoint,
        ChatServer(tmp_path, **tracing(endpoint)) as server,
    ):
        events = server.ask(server.new_session(), "你好")

        assert (events[-1][0], text_of(events)[:2]) == ("done", "你好")
        assert server.stop() == 0
        assert [line for line in server.log if "killed" in line or KEY[:5] in line] == []


def test_runs_are_named_by_their_id_and_tagged_by_agent(tmp_path):
    with (
        TraceCollector() as langsmith,
        ChatServer(tmp_path, **tracing(langsmith.url)) as server,
    ):
        server.upload("手册.md", HANDBOOK)
        session_id = server.new_session()
        server.ask(session_id, "年假和停车证分别有什么规定？")
        answered = server.ended_answer(session_id)["status"]
        (run_id,) = {row[0] for row in server.rows("SELECT run_id FROM agent_chat_messages")} - {
            None
        }

        def roots():
            return [run for run in langsmith.ended() if "parent_run_id" not in run]

        wait_until(lambda: len(roots()) == 1)
        tags = {run["name"]: set(run.get("tags", ())) for run in langsmith.ended()}

    assert answered == "completed"
    assert [root["name"].replace("-", "") for root in roots()] == [run_id.replace("-", "")]
    assert "research-agent" in tags["research_agent"]
    assert "main-agent" in tags["main_agent"]
    assert KEY not in langsmith.sent
