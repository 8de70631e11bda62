"""A running answer on the page, with a model behind real HTTP that is slow, hostile or broken."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import ask, upload
from tests.fault_server import FaultServer
from tests.server_process import ServerProcess

HANDBOOK = "# 员工手册\n\n年假为十五天，试用期内不计。\n\n病假须提供医院证明。\n"
QUESTION = "年假有多少天？"
HOSTILE = """<img src=x onerror=alert(1)>十五天[S1]。<div hx-get="/chat" hx-trigger="load">x</div>

![pixel](http://evil.invalid/p.png) [bad](javascript:alert(2)) [site](https://example.com)[S1]

| 项目 | 天数 |
|---|--:|
| 年假 | 15 [S1] |

```python
print("[S1] <script>alert(3)</script>")
```
"""


@pytest.fixture(scope="module")
def model():
    with FaultServer() as stand_in:
        yield stand_in


@pytest.fixture(scope="module")
def process(tmp_path_factory, model):
    """A server whose chat model is the stand-in; its embeddings stay the embedded ones."""
    environment = {"KBQA_CHAT_API_KEY": "test", "KBQA_CHAT_BASE_URL": model.base_url}
    with ServerProcess(tmp_path_factory.mktemp("data"), **environment) as process:
        yield process


@pytest.fixture(scope="module")
def server(process):
    return process.base_url


@pytest.fixture(scope="module", autouse=True)
def handbook(server, chromium, tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "员工手册.md"
    path.write_text(HANDBOOK)
    context = chromium.new_context(base_url=server)
    page = context.new_page()
    page.goto("/documents")
    upload(page, [path])
    context.close()


@pytest.fixture(autouse=True)
def well_behaved_model(model):
    model.turns = None


def replay(model, *turns):
    model.turns = FaultServer({"turns": list(turns)}).turns


def said(text, end="done"):
    delta = {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}
    stop = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "stand-in"}
    events = [head | delta, head | stop] if end == "done" else [head | delta]
    return {"sse": events, "end": end}


def pause_in_the_answer(model):
    """Let the answer to a simple question stop in the middle, with the line open."""
    replay(model, said("年假为十五天[S1]，", end="hang"))


def test_stop_keeps_the_text_as_failed_and_resend_answers(open_page, model):
    page = open_page("/chat/new")
    pause_in_the_answer(model)
    answer = ask(page, QUESTION)
    expect(page.locator("#sources .source-name").first).to_have_text("员工手册.md")
    expect(answer.locator(".answer-stream")).to_contain_text("年假为十五天")
    expect(answer.locator(".step-now")).to_have_text("撰写回答")
    page.get_by_role("button", name="停止").click()
    expect(answer.locator(".stopped")).to_contain_text("已停止")
    expect(page.locator("#announcer")).to_have_text("回答已停止")
    expect(page.locator("#sources")).not_to_contain_text("回答依据的原文，")
    expect(answer.locator(".answer-body")).to_contain_text("年假为十五天")
    model.turns = None
    answer.get_by_role("button", name="重新发送").click()
    expect(page.locator(".answer .answer-foot")).to_be_visible()
    expect(page.locator(".answer button.cite").first).to_be_visible()
    expect(page.locator(".question")).to_have_count(1)


def test_reload_in_the_middle_shows_the_text_once(open_page, model):
    page = open_page("/chat/new")
    pause_in_the_answer(model)
    answer = ask(page, QUESTION)
    expect(answer.locator(".answer-stream")).to_contain_text("年假为十五天")
    page.reload()
    expect(page.locator(".answer-stream")).to_have_text("年假为十五天1，")
    expect(page.locator(".searches .search")).to_have_count(1)
    page.get_by_role("button", name="停止").click()
    expect(page.locator(".stopped")).to_have_count(1)


def test_hostile_markdown_is_inert(open_page, model):
    page = open_page("/chat/new")
    replay(model, said(HOSTILE))
    answer = ask(page, QUESTION)
    body = answer.locator(".answer-body")
    expect(body.locator("table td.right")).to_contain_text("15")
    expect(body.locator("button.cite")).to_have_count(3)
    expect(body.locator(".code pre")).to_contain_text("[S1] <script>alert(3)</script>")
    expect(body.locator("a")).to_have_attribute("rel", "noopener nofollow")
    expect(body.locator("img, script, [onerror], [hx-get]")).to_have_count(0)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    body.get_by_role("button", name="复制").click()
    expect(page.locator("#toasts")).to_contain_text("已复制")


def test_failed_model_is_explained(open_page, model):
    page = open_page("/chat/new")
    replay(model, {"http": 401, "body": {"error": {"message": "no"}}})
    answer = ask(page, QUESTION)
    expect(answer.locator(".notice-bad")).to_contain_text("模型服务拒绝了密钥")
    expect(page.locator("#announcer")).to_have_text("回答失败")
    expect(page.locator(".rail-foot")).to_contain_text("qwen3.5-flash")


def test_question_is_kept_while_another_runs(open_page, model):
    page = open_page("/chat/new")
    pause_in_the_answer(model)
    ask(page, QUESTION)
    page.locator("#question").fill("第二个问题")
    page.locator("#question").press("Enter")
    expect(page.locator("#question")).to_have_value("第二个问题")
    expect(page.locator(".question")).to_have_count(1)
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator(".answer-stream")).to_contain_text("年假为十五天")
    other.get_by_role("button", name="停止").click()
    expect(other.locator(".stopped")).to_have_count(1)
    expect(page.locator(".stopped")).to_have_count(1)


def test_killed_server_is_noticed_and_the_answer_fails_with_a_reason(
    open_page, model, process, complaints
):
    page = open_page("/chat/new")
    pause_in_the_answer(model)
    answer = ask(page, QUESTION)
    expect(answer.locator(".answer-stream")).to_contain_text("年假为十五天")
    process.child("web").kill()
    expect(answer.locator(".connection")).to_be_visible()
    expect(answer.locator(".notice-bad")).to_contain_text("服务重启，回答被中断", timeout=30_000)
    lost = ("error: [object Event]", "error: Failed to load resource: net::ERR")
    complaints.lines = [line for line in complaints.lines if not line.startswith(lost)]
