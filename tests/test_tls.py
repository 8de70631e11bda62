"""Cookies are for https only where a TLS proxy is declared, and for plain http otherwise."""

from __future__ import annotations

import json

import pytest

from tests.server_process import manage

SIGN_IN = """
import json
from django.core.management import call_command
from django.test import Client
from apps.accounts.models import User
call_command("migrate", verbosity=0)
User.objects.create_user("ann", password="correct horse")
client = Client(headers={"X-Forwarded-Proto": "https", "Host": "localhost"})
page = client.get("/accounts/login/")
client.post("/i18n/setlang/", {"language": "en"})
client.post("/accounts/login/", {"username": "ann", "password": "correct horse"})
secure = {name: bool(cookie["secure"]) for name, cookie in client.cookies.items()}
print(json.dumps([secure, page.get("Strict-Transport-Security")]))
"""
COOKIES = ("csrftoken", "django_language", "sessionid")


@pytest.mark.parametrize(
    ("variables", "is_secure", "strict_transport"),
    [({}, False, None), ({"KBQA_TLS": "true"}, True, "max-age=86400")],
    ids=["plain", "tls"],
)
def test_cookies_are_secure_where_tls_is_declared(
    tmp_path, variables, is_secure, strict_transport
):
    given = {"KBQA_AUTH": "login", **variables}

    result = manage(tmp_path, "shell", "--no-imports", "--command", SIGN_IN, **given)

    assert json.loads(result.stdout) == [dict.fromkeys(COOKIES, is_secure), strict_transport]
