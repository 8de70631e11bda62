"""Pages in the language and the zone of a stored profile."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from apps.accounts.local_user import local_user
from apps.accounts.models import Profile
from apps.accounts.profiles import change_profile, page_language
from apps.documents.models import Document

pytestmark = pytest.mark.django_db


@pytest.fixture
def document():
    made = Document.objects.create(
        owner=local_user(),
        filename="a.txt",
        file_type="txt",
        mime_type="text/plain",
        file_size=1,
        sha256="0" * 64,
    )
    Document.objects.update(created_at=datetime(2026, 3, 1, 20, 30, tzinfo=UTC))
    return made


def page(client, **headers):
    return client.get("/documents", headers=headers).content.decode()


def test_times_are_shown_in_the_zone_of_the_profile(client, document):
    assert "2026-03-02 04:30</time>" in page(client)

    change_profile(local_user(), timezone="America/New_York")
    shown = page(client)

    assert "2026-03-01 15:30</time>" in shown
    assert 'title="2026-03-01 20:30:00 UTC"' in shown
    Profile.objects.all().delete()
    assert "2026-03-02 04:30</time>" in page(client)


def test_times_of_the_api_stay_utc(client, document):
    change_profile(local_user(), timezone="America/New_York")
    (item,) = client.get("/api/v1/documents").json()["items"]
    assert item["created_at"] == "2026-03-01T20:30:00Z"


def test_pages_speak_the_language_of_the_profile(client):
    assert '<html lang="zh-CN">' in page(client)

    change_profile(local_user(), interface_language="en-GB")

    assert '<html lang="en">' in page(client, **{"Accept-Language": "zh-CN"})


def test_language_chosen_in_the_browser_goes_before_the_profile(client):
    change_profile(local_user(), interface_language="en-GB")
    client.post("/i18n/setlang/", {"language": "zh-hans", "next": "/documents"})

    assert '<html lang="zh-CN">' in page(client)


def test_language_without_pages_leaves_the_choice_to_the_browser(client):
    change_profile(local_user(), interface_language="fr")
    assert '<html lang="en">' in page(client, **{"Accept-Language": "en"})


def test_profile_without_a_language_leaves_the_choice_to_the_browser(client):
    change_profile(local_user(), bio="x", country="SG")
    assert '<html lang="en">' in page(client, **{"Accept-Language": "en"})


def test_api_speaks_the_language_that_the_program_asks_for(client):
    change_profile(local_user(), interface_language="en-GB")
    missing = client.get("/api/v1/sessions/00000000-0000-0000-0000-000000000000")
    assert missing.json()["error"]["message"] == "找不到该内容，它可能已被删除。"


@pytest.mark.parametrize(
    ("tag", "language"),
    [
        ("zh-CN", "zh-hans"),
        ("zh", "zh-hans"),
        ("zh-TW", "zh-hans"),
        ("zh-Hans-SG", "zh-hans"),
        ("en", "en"),
        ("en-US", "en"),
        ("fr-CA", None),
    ],
)
def test_language_of_pages_for_a_tag(tag, language):
    assert page_language(tag) == language
