"""The person's own configuration for tests against real models; all data is temporary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.test import override_settings

from apps.documents.tests.pdf_files import text_pdf
from apps.llm import factory
from kbqa_project import env
from tests.question_flow.chat_server import ChatServer
from tests.server_process import wait_until
from tests.settings import PERSON

if TYPE_CHECKING:
    from collections.abc import Iterator

INDEXING_TIMEOUT_S = 600
SECRET = "for these tests only"
# Where a test may neither read nor write, and how its server is reached.
NOT_TAKEN = {
    *("KBQA_DATA_DIR", "KBQA_DATABASE_URL", "KBQA_MILVUS_URI", "KBQA_SECRET_KEY"),
    *("KBQA_AUTH", "KBQA_ALLOWED_HOSTS", "KBQA_CORS_ORIGINS", "KBQA_ENV_FILE"),
}
HANDBOOK = (
    "# 员工手册\n\n## 假期\n\n员工每年享有十五天带薪年假，需提前三个工作日申请。\n\n"
    "## 停车\n\n停车证每年三月更新，每张收费二百元。\n"
)
RULES = "差旅住宿标准：一线城市每晚六百元，其他城市每晚四百元。餐费每天一百元。\n"
GUIDE = "The warehouse on Maple Road opens at 07:45 on weekdays. Spare keys are in cabinet K-17."
FILES: dict[str, tuple[bytes, str]] = {
    "手册.md": (HANDBOOK.encode(), "text/markdown"),
    "差旅.txt": (RULES.encode(), "text/plain"),
    "guide.pdf": (text_pdf(GUIDE), "application/pdf"),
}


@pytest.fixture(scope="session")
def person() -> dict[str, str]:
    """The person's variables as far as they concern models."""
    return {name: value for name, value in PERSON.items() if name not in NOT_TAKEN}


@pytest.fixture(scope="session")
def environment(person: dict[str, str]) -> env.Environment:
    """The person's environment; fails when it names no chat or no embedding endpoint."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in person.items():
            patch.setenv(name, value)
        loaded = env.load()
    with override_settings(ENV=loaded):
        chat_is_embedded = factory.chat_is_embedded("organization")
    if chat_is_embedded or loaded.embedding_endpoint is None:
        pytest.fail(
            "live tests need KBQA_DASHSCOPE_API_KEY with KBQA_DASHSCOPE_BASE_URL, or"
            " KBQA_CHAT_* and KBQA_EMBEDDING_*"
        )
    return loaded


@pytest.fixture
def models(environment: env.Environment, settings: Any) -> None:
    """Make the person's models those of this process."""
    settings.ENV = environment


@pytest.fixture(scope="package")
def live_files(environment: env.Environment) -> dict[str, tuple[bytes, str]]:
    """What is uploaded: the three files and the person's own one (KBQA_LIVE_TEST_FILE)."""
    own = environment.live_test_file
    if own is None:
        return FILES
    return {**FILES, own.name: (own.read_bytes(), "application/octet-stream")}


class LiveSite:
    """A server on the person's models that can be started again on the same data."""

    def __init__(self, data_dir: Any, variables: dict[str, str]) -> None:
        self.data_dir, self._variables = data_dir, variables
        self.documents: dict[str, str] = {}
        self.server = self._started()

    def restart(self) -> None:
        """Stop the server and start another one on its data."""
        self.stop()
        self.server = self._started()

    def stop(self) -> None:
        self.server.__exit__()

    def upload(self, name: str, content: bytes, kind: str) -> None:
        """Upload a file and wait until it is indexed or failed."""
        response = self.server.client.post(
            "/api/v1/documents", files={"file": (name, content, kind)}
        )
        assert response.status_code == 202, response.text
        self.documents[name] = response.json()["id"]
        ended = {"indexed", "failed"}
        wait_until(lambda: self.document(name)["status"] in ended, timeout_s=INDEXING_TIMEOUT_S)

    def document(self, name: str) -> dict[str, Any]:
        address = f"/api/v1/documents/{self.documents[name]}"
        return dict(self.server.client.get(address).json())

    def _started(self) -> ChatServer:
        server = ChatServer(self.data_dir, **self._variables)
        return server.__enter__()


@pytest.fixture(scope="package")
def site(
    person: dict[str, str],
    live_files: dict[str, tuple[bytes, str]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[LiveSite]:
    """A server with the files, each indexed or failed."""
    site = LiveSite(tmp_path_factory.mktemp("live"), {**person, "KBQA_SECRET_KEY": SECRET})
    try:
        for name, (content, kind) in live_files.items():
            site.upload(name, content, kind)
        yield site
    finally:
        site.stop()
