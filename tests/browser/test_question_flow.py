"""The main job as a person does it: upload, ask, read the passage, ask on, delete."""

from __future__ import annotations

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.conftest import PHONE, upload
from tests.browser.conftest import ask as start_asking

HANDBOOK = """<meta charset="utf-8"><h1>员工手册</h1><h2>第二章 休假</h2>
<p>员工入职第一年每年享有五天带薪年假。入职第二年起，每年享有十天带薪年假。病假须提供医院证明。</p>
<h2>第三章 报销</h2><p>差旅费用须在返回后三十天内提交报销单，并附发票原件。</p>"""
WARRANTY = """# Aurora kettle

## Coverage

The Aurora kettle is covered by a limited warranty for 24 months from the date of purchase.

## Contact

The service centre is located in Hamburg and answers on weekdays from 9 to 17.
"""
MINUTES = "会议纪要\n\n会议决定新的仓储系统于2020年3月1日上线。项目负责人为王晓梅。\n"
HOSTILE_NAME = "<img src=x onerror=alert(1)>.md"
HOSTILE_TEXT = """# 企鹅

<script>alert(1)</script>紫色企鹅住在<b onclick="alert(2)">北极站</b>。

<div hx-get="/chat" hx-trigger="load">x</div> ![p](http://evil.invalid/p.png)
"""
SERIOUS = {"serious", "critical"}


@pytest.fixture(scope="module")
def files(tmp_path_factory, make_pdf):
    folder = tmp_path_factory.mktemp("files")
    (folder / "Aurora warranty.md").write_text(WARRANTY)
    (folder / "会议纪要.txt").write_bytes(MINUTES.encode("gbk"))
    (folder / HOSTILE_NAME).write_text(HOSTILE_TEXT)
    make_pdf(folder / "员工手册.pdf", HANDBOOK)
    return folder


@pytest.fixture(scope="module")
def library(server, chromium, files):
    """The first visit: an empty product leads to the upload, where all files are put in."""
    context = chromium.new_context(base_url=server, locale="zh-CN")
    page = context.new_page()
    page.goto("/chat")
    expect(page.get_by_role("heading", name="先上传一份文档")).to_be_visible()
    page.get_by_role("link", name="上传文档").click()
    page.wait_for_url("**/documents")
    page.set_input_files("#files", {"name": "x.exe", "mimeType": "a/b", "buffer": b"MZ"})
    expect(page.locator(".upload-bad")).to_contain_text("不支持这种文件")
    page.locator(".upload-bad").get_by_role("button", name="关闭提示").click()
    expect(page.locator("#uploads li")).to_have_count(0)
    upload(page, sorted(files.iterdir()))
    context.close()


def ask(page, question):
    answer = start_asking(page, question)
    expect(answer.locator(".answer-foot")).to_be_visible()
    return answer


def serious_findings(page):
    results = Axe().run(page)
    return [
        (finding["id"], [node["html"] for node in finding["nodes"]])
        for finding in results.response["violations"]
        if finding["impact"] in SERIOUS
    ]


def test_document_shows_its_facts_and_chunks(open_page, library):
    page = open_page("/documents")
    page.get_by_role("link", name="会议纪要.txt", exact=True).click()
    expect(page.locator("#detail .notice-warn")).to_contain_text("GB18030")
    expect(page.locator("#chunks")).to_contain_text("王晓梅")
    expect(page).to_have_url(re.compile("/documents/[0-9a-f-]{36}$"))
    page.locator("#q").press_sequentially("aurora")
    expect(page.locator("#listing tbody tr")).to_have_count(1)
    assert serious_findings(page) == []
    with page.expect_download() as download:
        page.get_by_role("link", name="下载 Aurora warranty.md").click()
    assert download.value.path().read_text() == WARRANTY


def test_answers_cite_passages_and_refuse_what_is_absent(open_page, library):
    page = open_page("/chat/new")
    expect(page.locator(".examples button")).to_have_count(3)
    first = ask(page, "入职第二年每年有几天年假？")
    expect(first.locator(".answer-body")).to_contain_text("十天带薪年假")
    first.locator("button.cite").first.click()
    opened = page.locator("#sources .source[open]")
    expect(opened.locator(".source-name")).to_have_text("员工手册.pdf")
    expect(opened.locator("mark", has_text="十天带薪年假")).to_have_count(1)
    expect(opened.locator(".source-meta")).to_contain_text("第 1 页")
    follow_up = ask(page, "那第一年呢？")
    expect(follow_up.locator(".answer-body")).to_contain_text("五天带薪年假")
    english = ask(page, "How long is the warranty of the Aurora kettle?")
    expect(english.locator(".answer-body")).to_contain_text("24 months")
    expect(page.locator("#sources .source-name").first).to_have_text("Aurora warranty.md")
    refused = ask(page, "火星上的城市叫什么名字？")
    expect(refused.locator(".refusal")).to_contain_text("火星")
    expect(refused.locator("button.cite")).to_have_count(0)


def test_older_answer_switches_the_sources(open_page, library):
    page = open_page("/chat/new")
    first = ask(page, "入职第二年每年有几天年假？")
    ask(page, "How long is the warranty of the Aurora kettle?")
    expect(page.locator("#sources .source-name").first).to_have_text("Aurora warranty.md")
    first.locator("button.cite").first.hover()
    expect(page.locator("#card")).to_contain_text("员工手册.pdf")
    first.locator("button.cite").first.click()
    expect(page.locator("#sources .source[open] .source-name")).to_have_text("员工手册.pdf")
    expect(first).to_have_class(re.compile("answer-current"))
    page.reload()
    expect(page.locator(".answer")).to_have_count(2)
    assert serious_findings(page) == []
    page.locator("#sources .source summary").first.click()
    page.locator("#sources .source[open]").get_by_role("link", name="在文档中查看").click()
    expect(page.locator(".chunk:target")).to_be_in_viewport()


def test_deleted_document_leaves_marked_answers(open_page, library, tmp_path):
    page = open_page("/documents")
    path = tmp_path / "灯塔.md"
    path.write_text("# 灯塔\n\n北角灯塔建于1887年，高四十二米。\n")
    upload(page, [path])
    page.goto("/chat/new")
    answer = ask(page, "北角灯塔建于哪一年？")
    expect(answer.locator("button.cite").first).to_be_visible()
    chat_url = page.url
    page.get_by_role("link", name="文档", exact=True).click()
    page.wait_for_url("**/documents")
    page.get_by_role("link", name="删除 灯塔.md").click()
    expect(page.locator("#dialog")).to_contain_text("灯塔.md")
    page.locator("#dialog").get_by_role("button", name="删除").click()
    expect(page.locator("#toasts")).to_contain_text("已删除 灯塔.md")
    expect(page.locator("#listing tr", has_text="灯塔.md")).to_have_count(0)
    page.goto(chat_url)
    expect(page.locator(".answer .cite-gone").first).to_contain_text("来源已删除")
    expect(page.locator("body")).not_to_contain_text("灯塔.md")


def test_hostile_names_and_texts_are_inert(open_page, library):
    page = open_page("/documents")
    page.locator("#listing tr", has_text=HOSTILE_NAME).locator("a").first.click()
    expect(page.locator("#detail")).to_contain_text("紫色企鹅")
    page.goto("/chat/new")
    answer = ask(page, "紫色企鹅住在哪里？")
    expect(answer.locator(".answer-body")).to_contain_text("北极站")
    page.locator("#sources .source").first.locator("summary").click()
    expect(page.locator("#sources")).to_contain_text(HOSTILE_NAME)
    for element in ("img", "script:not([src])", "[onclick]", "[hx-trigger=load]"):
        assert page.locator(element).count() == 0


def test_reload_during_a_run_resumes_it(open_page, library):
    page = open_page("/chat/new")
    page.locator("#question").fill("Where is the service centre, and how long is the warranty?")
    page.locator("#question").press("Enter")
    page.wait_for_url(re.compile("/chat/[0-9a-f-]{36}$"))
    page.reload()
    expect(page.locator(".answer .answer-foot")).to_be_visible()
    expect(page.locator(".answer")).to_have_count(1)
    assert page.locator(".answer-body").inner_text().count("Hamburg") == 1


def test_sessions_are_renamed_searched_and_deleted(open_page, library):
    page = open_page("/chat/new")
    ask(page, "你好")
    page.locator(".session[data-current]").get_by_role("link", name=re.compile("重命名")).click()
    page.locator("#dialog #title").fill("问候 <b>")
    page.locator("#dialog").get_by_role("button", name="保存").click()
    expect(page.locator(".bar h1")).to_have_text("问候 <b>")
    page.locator("#session-query").press_sequentially("不存在的会话")
    expect(page.locator("#sessions")).to_contain_text("没有符合的会话")
    page.locator("#session-query").fill("问候")
    expect(page.locator(".session")).to_have_count(1)
    page.locator(".session").hover()
    page.locator(".session").get_by_role("link", name=re.compile("删除")).click()
    page.locator("#dialog").get_by_role("button", name="删除").click()
    expect(page.locator("#toasts")).to_contain_text("会话已删除")


def test_lost_server_is_told_once_until_it_is_back(open_page, library, complaints):
    page = open_page("/documents")
    page.route("**/documents**", lambda route: route.abort())
    for _ in range(3):
        with page.expect_event("requestfailed"):
            page.evaluate("htmx.trigger(document.body, 'documents-changed')")
    expect(page.locator("#toasts")).to_contain_text("连不上服务器")
    expect(page.locator("#toasts > *")).to_have_count(1)
    page.unroute_all()
    page.evaluate("htmx.trigger(document.body, 'documents-changed')")
    expect(page.locator("#toasts > *")).to_have_count(0)
    lost = ("error: htmx:", "error: Failed to load resource: net::ERR")
    complaints.lines = [line for line in complaints.lines if not line.startswith(lost)]


def test_refused_first_question_keeps_the_pages_address(open_page, library, complaints):
    page = open_page("/chat/new")
    page.locator("#question").fill("长" * 5000)
    page.locator("#question").press("Enter")
    expect(page.locator("#composer-error")).to_contain_text("问题过长")
    expect(page).to_have_url(re.compile("/chat/new$"))
    refused = "error: Failed to load resource: the server responded with a status of 422"
    complaints.lines = [line for line in complaints.lines if not line.startswith(refused)]


def test_phone_uses_drawers_with_the_keyboard(open_page, library):
    page = open_page("/documents", viewport=PHONE)
    expect(page.locator("#rail")).to_be_hidden()
    menu = page.locator("[data-drawer=rail]")
    menu.press("Enter")
    expect(page.locator("#rail")).to_be_visible()
    expect(page.locator("#rail [data-drawer-close]")).to_be_focused()
    for _ in range(30):
        page.keyboard.press("Tab")
        expect(page.locator("#stage :focus")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.locator("#rail")).to_be_hidden()
    expect(menu).to_be_focused()
    page.goto("/chat/new")
    answer = ask(page, "How long is the Aurora kettle warranty?")
    answer.locator("button.cite").first.click()
    expect(page.locator("#side .source[open]")).to_be_visible()
    assert serious_findings(page) == []
    page.keyboard.press("Escape")
    expect(page.locator("#side")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


def test_pages_speak_english_and_dark(open_page, library):
    page = open_page("/documents", locale="en-US", scheme="dark")
    expect(page.get_by_role("heading", name="Documents", exact=True)).to_be_visible()
    assert serious_findings(page) == []
    page.goto("/chat/new")
    expect(page.locator("#question")).to_have_attribute("placeholder", "Ask about your documents…")
    assert serious_findings(page) == []
    page.get_by_role("button", name="简体中文").click()
    expect(page.locator("#question")).to_have_attribute("placeholder", "就你的文档提问…")


def test_admin_opens_conversations_under_the_strict_policy(open_page, library):
    page = open_page("/chat/new")
    ask(page, "入职第二年每年有几天年假？")
    page.get_by_role("link", name="管理").click()
    for table in (
        "documents/document",
        "documents/chunk",
        "accounts/user",
        "chat/agentchatmessage",
    ):
        page.goto(f"/admin/{table}/")
        expect(page.locator("#result_list")).to_be_visible()
    page.goto("/admin/chat/agentchatsession/")
    page.locator("#result_list tbody th a").first.click()
    expect(page.locator(".inline-group").first).to_contain_text("年假")


def test_composer_leaves_the_input_methods_enter_alone_and_grows(open_page):
    page = open_page("/chat/new")
    question = page.locator("#question")
    question.fill("nianjia")
    question.dispatch_event("keydown", {"key": "Enter", "isComposing": True, "bubbles": True})
    question.press("Shift+Enter")
    expect(question).to_have_value("nianjia\n")
    one_line = question.bounding_box()["height"]
    question.fill("\n" * 5)
    six_lines = question.bounding_box()["height"]
    question.fill("\n" * 30)
    eight_lines = question.bounding_box()["height"]
    assert one_line < six_lines < eight_lines < 240
    expect(page).to_have_url(re.compile("/chat/new$"))


def test_pages_work_without_script(open_page, library, files):
    page = open_page("/documents", script=False)
    page.set_input_files("#files", [files / "Aurora warranty.md"])
    page.get_by_role("button", name="上传", exact=True).click()
    expect(page.locator("#toasts")).to_contain_text("已上传 Aurora warranty.md")
    page.goto("/chat/new")
    page.locator("#question").fill("你好")
    page.get_by_role("button", name="发送").click()
    expect(page.locator(".question")).to_have_text("你好")
