"""Signing in and out, and the frame around all pages."""

from __future__ import annotations

import html
import re

import pytest

from kbqa_project.env import load

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


def shown_models(page):
    terms = re.search(r'<dl class="models">(.*?)</dl>', page.content.decode(), re.DOTALL)
    return [html.unescape(text) for text in re.findall(r"<dd>(.*?)</dd>", terms[1])]


@pytest.mark.parametrize("path", ["/documents", "/nowhere", "/admin/"])
def test_every_page_names_the_active_models(client, path):
    expected = ["extractive · 内置", "multilingual-e5-small · 内置"]
    assert shown_models(client.get(path)) == expected


def test_sign_in_page_names_the_active_models_in_english(client, login_mode):
    page = client.get("/accounts/login/", headers={"Accept-Language": "en"})
    assert shown_models(page) == ["extractive · built-in", "multilingual-e5-small · built-in"]


def test_providers_are_named_without_path_port_or_password(client, settings):
    settings.ENV = load(
        data_dir=settings.ENV.data_dir,
        chat_api_key="sk-never-shown",
        chat_base_url="https://user:pass-never-shown@models.example:8443/secret/v1",
        embedding_api_key="sk-never-shown",
        embedding_base_url="https://dashscope.aliyuncs.com/compatible-mode/v1",
    )
    page = client.get("/documents")
    assert shown_models(page) == ["qwen3.5-flash · models.example", "text-embedding-v4 · qwen"]
    for body in (page.content.decode(), client.get("/health").content.decode()):
        assert "never-shown" not in body
        assert "secret" not in body


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
