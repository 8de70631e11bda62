"""One owner of the vectors for all tests of this process, and the people and files they need."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from apps.accounts.local_user import local_user
from apps.accounts.models import User
from apps.documents.indexing import run_jobs
from apps.documents.tests.processes import ManagedProcess, wait_until_ready
from apps.documents.uploads.accept import accept_upload
from apps.documents.vectors.access import vector_store

LEAVE_RULES = """# 假期制度

## 年假

员工入职满一年可以享受十天年假。入职满三年可以享受十五天年假。

## 病假

病假需要医院证明，每年不超过三十天。
"""


@pytest.fixture(scope="session")
def vector_server():
    """The owner of the vectors of the tests' data folder, ready."""
    with ManagedProcess("vector_server") as process:
        wait_until_ready(vector_store())
        yield process


@pytest.fixture
def owner(db):
    return local_user()


@pytest.fixture
def other_owner(db):
    return User.objects.create(username="someone-else")


@pytest.fixture
def leave_rules():
    """A small Markdown file with two sections."""
    return markdown_file("假期.md", LEAVE_RULES)


@pytest.fixture
def indexed(transactional_db, vector_server, leave_rules):
    """The leave rules, indexed for the local person."""
    return index(local_user(), leave_rules)


def markdown_file(name, text):
    return SimpleUploadedFile(name, text.encode(), "text/markdown")


def text_file(name, text):
    return SimpleUploadedFile(name, text.encode(), "text/plain")


def index(owner, upload):
    document = accept_upload(owner, upload)
    run_jobs.run_queued_jobs()
    document.refresh_from_db()
    return document
