"""Signing in and out, and the frame around all pages."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.django_db


@pytest.fixture
def login_mode(settings):
    settings.LOCAL_MODE = False


@pytest.fixture
def person(django_user_model):
    return django_user_model.objects.create_user("mei", password="correct horse")


def test_person_signs_in_and_out(client, login_mode, person):
    page = client.get("/accounts/login/?next=/documents").content.decode()
    assert "用户名" in page
    form = {"username": "mei", "password": "correct horse", "next": "/documents"}
    assert client.post("/accounts/login/", form)["Location"] == "/documents"
    frame = client.get("/documents").content.decode()
    assert 'action="/accounts/logout/"' in frame
    assert 'href="/admin/"' not in frame
    assert client.post("/accounts/logout/")["Location"] == "/accounts/login/"
    assert client.get("/documents").status_code == 302


def test_wrong_password_is_explained(client, login_mode, person):
    page = client.post("/accounts/login/", {"username": "mei", "password": "wrong"})
    assert page.status_code == 200
    assert 'role="alert"' in page.content.decode()


def test_sign_in_never_leads_to_another_site(client, login_mode, person):
    form = {"username": "mei", "password": "correct horse", "next": "https://evil.invalid/"}
    assert client.post("/accounts/login/", form)["Location"] == "/"


def test_local_mode_needs_no_sign_in(client):
    assert client.get("/accounts/login/")["Location"] == "/"
    frame = client.get("/documents").content.decode()
    assert "/accounts/logout/" not in frame
    assert 'href="/admin/"' in frame


def test_frame_names_the_active_models(client):
    assert '<dd title="extractive">extractive</dd>' in client.get("/documents").content.decode()


@pytest.mark.parametrize(
    ("header", "lang", "word"), [("zh-CN", "zh-CN", "文档"), ("en-GB", "en", "Documents")]
)
def test_language_follows_the_browser(client, header, lang, word):
    page = client.get("/documents", headers={"Accept-Language": header}).content.decode()
    assert f'<html lang="{lang}">' in page
    assert f"<h1>{word}</h1>" in page


def test_language_can_be_switched(client):
    form = {"language": "en", "next": "/documents"}
    assert client.post("/i18n/setlang/", form)["Location"] == "/documents"
    assert '<html lang="en">' in client.get("/documents").content.decode()


@pytest.mark.parametrize("path", ["/nowhere", "/documents/00000000-0000-0000-0000-000000000000"])
def test_missing_page_answers_404_in_our_frame(client, path):
    response = client.get(path)
    assert response.status_code == 404
    assert "找不到" in response.content.decode()


def test_missing_thing_answers_htmx_with_a_notice(client):
    url = "/documents/00000000-0000-0000-0000-000000000000"
    html = client.get(url, headers={"HX-Request": "true"}).content.decode()
    assert html.startswith('<div class="notice notice-bad" data-toast="error">')


def test_pages_are_strict_about_their_content(client):
    policy = client.get("/documents")["Content-Security-Policy"]
    assert "unsafe" not in policy
    page = client.get("/documents").content.decode()
    for inline in ("<style", " style=", " onclick=", "<script>"):
        assert inline not in page
