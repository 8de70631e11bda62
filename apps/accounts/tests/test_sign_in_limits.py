"""Guessing passwords is limited by name and address, alike for names that do not exist."""

from __future__ import annotations

from datetime import timedelta

import pytest
from axes.models import AccessAttempt
from django.core.management import call_command
from django.test import RequestFactory

from apps.accounts.models import User
from apps.accounts.sign_in_limits import WIDE_FACTOR, client_address
from kbqa_project.env import load

pytestmark = pytest.mark.django_db
LOGIN, ADMIN_LOGIN = "/accounts/login/", "/admin/login/"
PASSWORD = "a long enough passphrase"
LIMIT = 5


@pytest.fixture(autouse=True)
def ann(settings):
    settings.LOCAL_MODE = False
    settings.ENV = load(auth="login")
    return User.objects.create_superuser("ann", password=PASSWORD)


def sign_in(client, name="ann", password="wrong", *, address="192.0.2.1", page=LOGIN, **headers):
    form = {"username": name, "password": password}
    return client.post(page, form, REMOTE_ADDR=address, headers=headers)


def statuses(client, times, **values):
    return [sign_in(client, **values).status_code for _ in range(times)]


@pytest.mark.parametrize("page", [LOGIN, ADMIN_LOGIN])
@pytest.mark.parametrize("name", ["ann", "nobody"])
def test_failures_lock_a_name_at_an_address_whether_it_exists_or_not(client, page, name):
    assert statuses(client, LIMIT, name=name, page=page) == [200] * (LIMIT - 1) + [429]

    refused = sign_in(client, name, PASSWORD, page=page)

    assert (refused.status_code, "sessionid" in client.cookies) == (429, False)
    assert 0 < int(refused["Retry-After"]) <= 900
    assert "登录失败次数过多，请在 15 分钟后重试。" in refused.content.decode()
    english = sign_in(client, name, page=page, **{"Accept-Language": "en"})
    assert "Too many failed sign-ins. Try again in 15 min." in english.content.decode()


def test_lock_holds_on_the_other_login_page_too(client):
    statuses(client, LIMIT, page=ADMIN_LOGIN)
    assert sign_in(client, password=PASSWORD, page=LOGIN).status_code == 429


def test_lock_spares_other_addresses_and_other_names(client):
    User.objects.create_user("bob", password=PASSWORD)
    statuses(client, LIMIT)
    assert sign_in(client, password=PASSWORD, address="192.0.2.2").status_code == 302
    assert sign_in(client, "bob", PASSWORD).status_code == 302


@pytest.mark.parametrize("agents", [["a"] * LIMIT, ["a", "b", "c", "d", "e"]])
def test_lock_does_not_depend_on_the_browser_that_is_named(client, agents):
    answers = [sign_in(client, **{"User-Agent": agent}).status_code for agent in agents]
    assert answers == [200] * (LIMIT - 1) + [429]


def test_many_addresses_lock_the_name_everywhere(client):
    spared = LIMIT - 1
    for number in range(LIMIT * WIDE_FACTOR // spared + 1):
        statuses(client, spared, address=f"198.51.100.{number}")
    assert sign_in(client, password=PASSWORD, address="203.0.113.1").status_code == 429
    assert AccessAttempt.objects.filter(ip_address="203.0.113.1").count() == 0


def test_many_names_lock_the_address(client):
    spared = LIMIT - 1
    for number in range(LIMIT * WIDE_FACTOR // spared + 1):
        statuses(client, spared, name=f"person{number}")
    assert sign_in(client, password=PASSWORD).status_code == 429
    assert sign_in(client, password=PASSWORD, address="192.0.2.2").status_code == 302


def test_lock_ends_by_itself_and_attempts_during_it_do_not_prolong_it(client, settings):
    statuses(client, LIMIT + 3)
    assert AccessAttempt.objects.get().failures_since_start == LIMIT
    attempt = AccessAttempt.objects.get()
    AccessAttempt.objects.update(attempt_time=attempt.attempt_time - timedelta(seconds=840))
    assert 0 < int(sign_in(client, password=PASSWORD)["Retry-After"]) <= 60
    AccessAttempt.objects.update(attempt_time=attempt.attempt_time - timedelta(seconds=900))
    assert sign_in(client, password=PASSWORD).status_code == 302


def test_sign_in_forgets_the_failures_of_its_pair_alone(client):
    statuses(client, LIMIT - 1)
    statuses(client, LIMIT - 1, address="192.0.2.2")
    assert sign_in(client, password=PASSWORD).status_code == 302
    kept = AccessAttempt.objects.values_list("ip_address", "failures_since_start")
    assert list(kept) == [("192.0.2.2", LIMIT - 1)]


@pytest.mark.parametrize(
    "command",
    [("axes_reset_username", "ann"), ("axes_reset_ip", "192.0.2.1"), ("axes_reset",)],
)
def test_command_unlocks_at_once(client, command):
    statuses(client, LIMIT)
    call_command(*command)
    assert sign_in(client, password=PASSWORD).status_code == 302


def test_no_password_is_kept_or_logged(client, caplog):
    statuses(client, LIMIT + 1, password="secret-guess")
    kept = str(list(AccessAttempt.objects.values()))
    assert ["secret-guess" in text for text in (kept, caplog.text)] == [False, False]


@pytest.mark.parametrize(
    ("variables", "forwarded", "address"),
    [
        ({}, "203.0.113.9", "192.0.2.1"),
        ({"tls": True}, "203.0.113.9", "203.0.113.9"),
        ({"tls": True}, "10.9.9.9, 203.0.113.9", "203.0.113.9"),
        ({"tls": True, "proxies": 0}, "203.0.113.9", "192.0.2.1"),
        ({"proxies": 2}, "10.9.9.9, 203.0.113.9, 192.0.2.7", "203.0.113.9"),
        ({"proxies": 2}, "203.0.113.9", "192.0.2.1"),
        ({"proxies": 1}, "2001:db8::1", "2001:db8::1"),
        ({"proxies": 1}, "unknown", "192.0.2.1"),
        ({"proxies": 1}, None, "192.0.2.1"),
    ],
)
def test_address_is_taken_from_declared_proxies_only(settings, variables, forwarded, address):
    settings.ENV = load(**variables)
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    request = RequestFactory().get(LOGIN, REMOTE_ADDR="192.0.2.1", headers=headers)
    assert client_address(request) == address


def test_forged_address_does_not_evade_the_limit(client):
    answers = [
        sign_in(client, **{"X-Forwarded-For": f"203.0.113.{number}"}).status_code
        for number in range(LIMIT)
    ]
    assert answers == [200] * (LIMIT - 1) + [429]
