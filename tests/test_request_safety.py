"""What a server without login refuses, and the one form in which it says so."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.chat.models import AgentChatSession

pytestmark = pytest.mark.django_db

SESSIONS = "/api/v1/sessions"
STATE_CHANGES = [
    ("post", SESSIONS),
    ("post", "/api/v1/documents"),
    ("post", "/api/v1/chat/stream"),
    ("delete", f"{SESSIONS}/00000000-0000-4000-8000-000000000000"),
    ("post", "/documents/upload"),
    ("post", "/i18n/setlang/"),
]
FOREIGN = [
    {"Origin": "https://evil.example"},
    {"Origin": "http://127.0.0.1:9999"},
    {"Origin": "null"},
    {"Origin": "http://["},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Origin": "http://127.0.0.1:8000", "Sec-Fetch-Site": "cross-site"},
]
OWN = [
    {},
    {"Origin": "http://127.0.0.1:8000"},
    {"Origin": "http://127.0.0.1:8000", "Sec-Fetch-Site": "same-origin"},
    {"Sec-Fetch-Site": "none"},
]


@pytest.fixture
def client():
    return Client(raise_request_exception=False, headers={"Host": "127.0.0.1:8000"})


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
@pytest.mark.parametrize(("method", "path"), STATE_CHANGES)
def test_state_change_from_a_foreign_origin_is_refused(client, method, path, headers):
    response = getattr(client, method)(path, headers=headers)

    assert response.status_code == 403
    assert "FOREIGN_ORIGIN" in response.content.decode()
    assert AgentChatSession.objects.count() == 0


@pytest.mark.parametrize("headers", OWN, ids=str)
def test_state_change_of_our_own_is_made(client, headers):
    response = client.post(SESSIONS, "{}", content_type="application/json", headers=headers)

    assert (response.status_code, AgentChatSession.objects.count()) == (201, 1)


def test_reading_from_a_foreign_origin_gives_no_cors_permission(client):
    response = client.get(SESSIONS, headers={"Origin": "https://evil.example"})

    assert (response.status_code, response.get("Access-Control-Allow-Origin")) == (200, None)


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:8000", "10.0.0.1"])
@pytest.mark.parametrize("path", [SESSIONS, "/chat", "/health", "/admin/"])
def test_foreign_host_is_refused(client, host, path):
    response = client.get(path, headers={"Host": host})

    assert response.status_code == 400


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:8000", "[::1]:8000"])
def test_loopback_host_is_served(client, host):
    assert client.get(SESSIONS, headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "headers", "status", "code"),
    [
        ("get", SESSIONS, {"Host": "evil.example"}, 400, "BAD_REQUEST"),
        ("get", "/api/v1/nothing", {}, 404, "NOT_FOUND"),
        ("patch", "/api/v1/chat/stream", {}, 405, "METHOD_NOT_ALLOWED"),
        ("post", SESSIONS, {"Origin": "https://evil.example"}, 403, "FOREIGN_ORIGIN"),
    ],
)
def test_api_error_has_the_documented_form(client, method, path, headers, status, code):
    response = getattr(client, method)(path, headers=headers)

    error = response.json()["error"]
    assert (response.status_code, error["code"], sorted(error)) == (
        status,
        code,
        ["code", "message", "request_id"],
    )
    assert error["request_id"] == response["X-Request-ID"]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [("{", 400, "BAD_REQUEST"), ("x" * 2_100_000, 413, "REQUEST_TOO_LARGE")],
    ids=["no json", "too large"],
)
def test_unreadable_body_has_the_documented_form(client, body, status, code):
    response = client.post(SESSIONS, body, content_type="application/json")

    assert (response.status_code, response.json()["error"]["code"]) == (status, code)


@pytest.mark.parametrize("path", ["/chat", "/documents", SESSIONS, "/health", "/nothing"])
def test_every_answer_carries_the_security_headers(client, path):
    response = client.get(path, follow=True)

    assert {name: response[name] for name in ("X-Content-Type-Options", "X-Frame-Options")} == {
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
    }
    assert response["Referrer-Policy"] == "same-origin"
    policy = response["Content-Security-Policy"].split("; ")
    assert {"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"} <= set(policy)


def test_preflight_is_answered_for_listed_origins_only(client, settings):
    settings.CORS_ALLOWED_ORIGINS = ["http://localhost:5173"]
    asked = {"Access-Control-Request-Method": "POST"}

    listed = client.options(SESSIONS, headers={"Origin": "http://localhost:5173", **asked})
    other = client.options(SESSIONS, headers={"Origin": "http://localhost:5174", **asked})

    allowed = "Access-Control-Allow-Origin"
    assert (listed.get(allowed), other.get(allowed)) == ("http://localhost:5173", None)


def test_private_answers_are_kept_by_no_cache(client):
    paths = ["/chat/new", "/documents", SESSIONS, "/api/v1/documents"]

    answered = {path: client.get(path)["Cache-Control"] for path in paths}

    assert answered == dict.fromkeys(paths, "private, no-store")


class TestLoginMode:
    """KBQA_AUTH=login."""

    @pytest.fixture(autouse=True)
    def login_mode(self, settings):
        settings.LOCAL_MODE = False

    @pytest.mark.parametrize(
        ("method", "path"),
        [("get", SESSIONS), ("post", "/api/v1/chat/stream"), ("get", "/api/v1/documents")],
    )
    def test_api_refuses_who_is_not_signed_in(self, client, method, path):
        response = getattr(client, method)(path)

        assert (response.status_code, response.json()["error"]["code"]) == (401, "LOGIN_REQUIRED")

    def test_api_serves_who_is_signed_in(self, client):
        client.force_login(User.objects.create_user("anna"))

        response = client.get(SESSIONS)

        assert (response.status_code, json.loads(response.content)["items"]) == (200, [])
