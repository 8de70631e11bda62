"""What the requirements exclude (003 §19, the design card) is absent, as far as text can tell."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from kbqa_project.env import BASE_DIR

if TYPE_CHECKING:
    from collections.abc import Iterator

TEXT = {".py", ".toml", ".in", ".lock", ".html", ".js", ".css", ".md", ".yaml", ".yml", ".json"}
OWN_PATH = "tests/test_forbidden.py"
FORBIDDEN_PACKAGES = {
    "PostgreSQL drivers": r"^(psycopg\w*|asyncpg|pg8000)(\[|==)",
    "other stacks": r"^(fastapi|crewai\S*|sqlalchemy|alembic|supabase)(\[|==)",
}
FORBIDDEN_CODE = {
    "PostgreSQL": r"\b(psycopg\d?|asyncpg|pg8000|JSONB|django\.contrib\.postgres)\b",
    "LangChain 0.x agents": (
        r"\b(AgentExecutor|initialize_agent|create_react_agent|create_tool_calling_agent|LLMChain"
        r"|ConversationChain|RetrievalQA|langchain_community|langchain_classic)\b"
    ),
    "model doubles": (
        r"\b(FakeListChatModel|FakeChatModel|GenericFakeChatModel|FakeEmbeddings"
        r"|DeterministicFakeEmbedding|FakeListLLM|FakeMessagesListChatModel)\b"
    ),
}
MOCKED_MODEL = re.compile(
    r"(patch|setattr)\([^)]*\b(chat_model|embedding_model|ExtractiveChatModel|EmbeddedEmbeddings"
    r"|ChatOpenAI|OpenAIEmbeddings)\b"
)
SECRETS = {
    "vendor key": r"\bsk-[A-Za-z0-9]{16,}",
    "LangSmith key": r"\blsv2_[A-Za-z0-9_]{16,}",
    "private key": r"-----BEGIN [A-Z ]*PRIVATE KEY-----",
    "machine path": r"(/home/[a-z]|/Users/[A-Za-z])\w*",
}


def tracked_texts() -> Iterator[tuple[str, str]]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=BASE_DIR,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    for name in filter(None, listed.split("\0")):
        path = BASE_DIR / name
        if path.suffix in TEXT and name != OWN_PATH and path.exists():
            yield name, path.read_text()


def places(pattern: str, *suffixes: str, flags: re.RegexFlag = re.NOFLAG) -> list[str]:
    expression = re.compile(pattern, flags)
    return [
        f"{name}: {found.group()}"
        for name, text in tracked_texts()
        if name.endswith(suffixes or ("",))
        for found in expression.finditer(text)
    ]


@pytest.mark.parametrize("kind", FORBIDDEN_PACKAGES)
def test_forbidden_package_is_not_locked(kind):
    assert places(FORBIDDEN_PACKAGES[kind], ".lock", ".in", flags=re.MULTILINE) == []


@pytest.mark.parametrize("kind", FORBIDDEN_CODE)
def test_forbidden_code_is_absent(kind):
    assert places(FORBIDDEN_CODE[kind], ".py") == []


def test_no_test_replaces_a_model():
    assert places(MOCKED_MODEL.pattern, ".py") == []


@pytest.mark.parametrize("kind", SECRETS)
def test_secret_is_absent(kind):
    assert places(SECRETS[kind]) == []


def test_env_file_is_not_tracked():
    assert [name for name, _text in tracked_texts() if name.endswith("/.env")] == []
