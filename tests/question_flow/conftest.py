"""Two servers: one on the embedded models, one whose chat endpoint a test can hold."""

from __future__ import annotations

import pytest

from tests.question_flow.chat_server import ChatServer
from tests.question_flow.held_endpoint import HeldEndpoint

HANDBOOK = (
    "# 员工手册\n\n## 假期\n\n员工每年享有十五天带薪年假，需提前三个工作日申请。\n\n"
    "## 停车\n\n停车证每年三月更新，每张收费二百元。\n"
)
GUIDE = (
    "# Warehouse guide\n\nThe warehouse on Maple Road opens at 07:45 on weekdays.\n\n"
    "Spare keys are kept in cabinet K-17 beside the lift.\n"
)


@pytest.fixture(scope="package")
def server(tmp_path_factory):
    """A server on the embedded models, with two documents."""
    with ChatServer(tmp_path_factory.mktemp("embedded")) as served:
        served.upload("手册.md", HANDBOOK)
        served.upload("guide.md", GUIDE)
        yield served


@pytest.fixture(scope="package")
def _endpoint():
    with HeldEndpoint() as endpoint:
        yield endpoint


@pytest.fixture
def endpoint(_endpoint):
    """The chat endpoint of `held_server`: it stops in the middle of an answer until released."""
    _endpoint.hold()
    yield _endpoint
    _endpoint.release()


@pytest.fixture(scope="package")
def _held_server(tmp_path_factory, _endpoint):
    with ChatServer(
        tmp_path_factory.mktemp("held"),
        KBQA_CHAT_API_KEY="key-of-a-test",
        KBQA_CHAT_BASE_URL=_endpoint.base_url,
        KBQA_HEARTBEAT_S="0.1",
        KBQA_PAGE_GRACE_S="0.5",
    ) as served:
        served.upload("手册.md", HANDBOOK)
        yield served


@pytest.fixture
def held_server(_held_server, endpoint):
    """A server whose answers stop in the middle."""
    return _held_server
