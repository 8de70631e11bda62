"""A real server and a real Chromium for the browser tests; each test gets a clean context."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from playwright.sync_api import expect, sync_playwright

from checks.browser import find_browser
from tests.server_process import ServerProcess

CHROMIUM_ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
]
DESKTOP = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}


@dataclass
class Complaints:
    """What went wrong in the browser: console and script errors, CSP reports, foreign loads."""

    base: str
    lines: list[str] = field(default_factory=list)

    def watch(self, page):
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.lines.append(f"script error: {error}"))
        page.on("request", self._request)
        page.on("dialog", lambda dialog: self.lines.append(f"dialog: {dialog.message}"))

    def _console(self, message):
        if message.type in {"error", "warning"}:
            self.lines.append(f"{message.type}: {message.text}")

    def _request(self, request):
        if not request.url.startswith((self.base, "data:", "about:")):
            self.lines.append(f"foreign request: {request.url}")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The address of a server with the embedded models and an empty data folder."""
    with ServerProcess(tmp_path_factory.mktemp("data")) as process:
        yield process.base_url


@pytest.fixture(scope="package")
def chromium():
    """A browser that ends with these tests: as long as it lives, its loop bars other loops."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=CHROMIUM_ARGS)
        yield browser
        browser.close()


@pytest.fixture
def complaints(server):
    """Fails the test when the browser had anything to complain about."""
    noted = Complaints(server)
    yield noted
    assert noted.lines == []


@pytest.fixture
def open_page(server, chromium, complaints):
    """Opens a page of the server in a new context: `open_page("/chat", viewport=PHONE)`."""
    contexts = []

    def open_page(path, *, viewport=DESKTOP, locale="zh-CN", scheme="light", script=True):
        context = chromium.new_context(
            base_url=server,
            viewport=viewport,
            locale=locale,
            color_scheme=scheme,
            java_script_enabled=script,
            reduced_motion="reduce",
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)
        complaints.watch(page)
        page.goto(path)
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture(scope="package")
def make_pdf(chromium):
    """Prints HTML to a PDF with a text layer."""

    def make_pdf(path, html):
        page = chromium.new_page()
        page.set_content(html)
        page.pdf(path=path)
        page.close()
        return path

    return make_pdf


def upload(page, paths):
    """Put files in and wait until each is indexed."""
    page.set_input_files("#files", paths)
    for path in paths:
        row = page.locator("#listing tr", has_text=path.name)
        expect(row.locator(".pill-indexed")).to_be_visible()


def ask(page, question):
    """Ask and return the answer's place, which is still being written."""
    before = page.locator(".answer").count()
    page.locator("#question").fill(question)
    page.locator("#question").press("Enter")
    expect(page.locator(".question").last).to_have_text(question)
    return page.locator(".answer").nth(before)
