"""The chat pages: page and fragment, happy, forbidden and invalid."""

from __future__ import annotations

import json
import re
import uuid

import pytest
from asgiref.sync import sync_to_async
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.agents.events import ToolCalled
from apps.chat.errors import RunStoppedError, RunTimeoutError
from apps.chat.models import AgentChatMessage, AgentChatSession
from apps.chat.pages.view_models import message_of
from apps.chat.runs import running
from apps.chat.sessions import ImportedMessage, create_session
from apps.chat.tests.conftest import finished_transcript, make_document, sources_of
from apps.chat.turns.endings import fail_turn, finish_turn
from apps.chat.turns.start import start_turn
from apps.documents.models import Document

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
SEARCH = ToolCalled("call-1", "search_knowledge_base", {"query": "年假 <b>"})


@pytest.fixture
def foreign_session(django_user_model):
    return create_session(django_user_model.objects.create(username="stranger"), title="fremd")


def answer(session, document, text="年假十五天。[S1]", **values):
    turn = start_turn(session, "年假多少天？")
    finish_turn(turn, finished_transcript(text, sources_of(document), **values))
    return AgentChatMessage.objects.get(id=turn.message_id)


def page_of(client, session, query=""):
    response = client.get(reverse("chat:session", args=[session.id]) + query)
    assert response.status_code == 200
    return response.content.decode()


def test_root_and_chat_lead_to_the_newest_session(client, user):
    assert client.get("/")["Location"] == "/chat"
    assert client.get("/chat")["Location"] == "/chat/new"
    create_session(user, title="old")
    newest = create_session(user, title="new")
    assert client.get("/chat")["Location"] == f"/chat/{newest.id}"


def test_new_session_without_documents_leads_to_the_upload(client, user):
    page = client.get("/chat/new").content.decode()
    assert "先上传一份文档" in page
    assert 'href="/documents"' in page


def test_new_session_while_indexing_leads_to_the_progress(client, document):
    Document.objects.update(status="indexing")
    assert "1 份文档正在索引，完成后就可以提问。" in client.get("/chat/new").content.decode()


def test_new_session_offers_questions_about_what_the_documents_speak_of(client, document, user):
    make_document(user, "annual-report.md", ["# Report\n\n## Sales\n\nUp.", "## Staff\n\nMore."])
    assert client.get("/chat/new").context["examples"] == [
        "What does “annual-report” say about Sales?",
        "《手册》说了什么？",
        "What does “annual-report” say about Staff?",
    ]


def test_new_session_query_count_does_not_grow_with_documents(client, document, user):
    client.get("/chat/new")
    with CaptureQueriesContext(connection) as one:
        client.get("/chat/new")
    make_document(user, "a.md", ["a", "b"])
    make_document(user, "b.md", ["c"])
    with CaptureQueriesContext(connection) as three:
        client.get("/chat/new")
    assert len(one) == len(three)


def test_answer_shows_citations_sources_and_searches(client, session, document):
    message = answer(session, document, before=[SEARCH])
    page = page_of(client, session)
    assert f'form="sources-{message.id}" name="source" value="S1"' in page
    assert "<mark>年假十五天。</mark>" in page
    assert "年假 &lt;b&gt;" in page
    assert "检索到但没有引用" in page


def test_deleted_document_shows_as_deleted_without_name_or_text(client, session, document):
    answer(session, document)
    document.delete()
    page = page_of(client, session)
    assert '<span class="cite-gone">1 来源已删除</span>' in page
    assert "手册.md" not in page
    assert "停车证" not in page
    assert "回答引用的来源已被删除。" in page
    assert "回答依据的原文" not in page


def test_pane_of_an_answer_whose_cited_source_is_gone_keeps_the_others(client, session, document):
    message = answer(session, document)
    message.sources.filter(citation_label="S1").delete()
    page = page_of(client, session)
    assert "回答引用的来源已被删除。" in page
    assert "停车证" in page
    assert "回答依据的原文" not in page


def test_document_that_is_being_deleted_shows_no_more(client, session, document):
    answer(session, document)
    Document.objects.update(status="deleting")
    page = page_of(client, session)
    assert "回答引用的来源已被删除。" in page
    assert "停车证" not in page


def test_copied_answer_ends_with_the_cited_sources(client, session, document):
    message = answer(session, document)
    template = f'<template id="text-{message.id}">年假十五天。[S1]\n\n[S1] 手册.md</template>'
    assert template in page_of(client, session)


def test_embedded_models_name_is_explained(client, session, document):
    answer(session, document)
    page = page_of(client, session)
    hint = "内置模型摘录文档的原句来回答，不改写，也不推断。"
    assert f'<span title="{hint}">extractive · 原文摘录</span>' in page


def test_searches_show_their_question_once_and_cut(client, session, document):
    queries = ["旧问题\n旧回答\n年假几天？", "年假几天？", f"{'长' * 70}"]
    calls = [
        ToolCalled(f"call-{number}", "search_knowledge_base", {"query": query})
        for number, query in enumerate(queries)
    ]
    message = answer(session, document, before=calls)
    shown = message_of(session, message.id)
    assert shown.searches == ["年假几天？", f"{'长' * 60}…"]


def test_refusal_tells_the_searches_and_the_nearest_passage(client, session, document):
    answer(session, document, "资料不足。", outcome="insufficient_evidence", before=[SEARCH])
    page = page_of(client, session)
    assert "检索到的段落里没有问题的答案。" in page
    assert 'name="source" value="S1">最接近的段落</button>' in page
    assert '<span class="query" dir="auto">年假 &lt;b&gt;</span>' in page


def test_failed_answer_says_why_and_offers_to_send_again(client, session):
    turn = start_turn(session, "问题？")
    fail_turn(turn, RunTimeoutError(), finished_transcript("部分"))
    page = page_of(client, session)
    assert "回答超时，请重试。 以上内容不完整。" in page
    assert reverse("chat:resend", args=[session.id, turn.message_id]) in page


def test_stopped_answer_is_no_failure_and_its_labels_are_gone(client, session):
    turn = start_turn(session, "问题？")
    fail_turn(turn, RunStoppedError(), finished_transcript("部分。[S1]"))
    page = page_of(client, session)
    assert ("已停止</div>" in page, "重新发送" in page, "部分。</p>" in page) == (True,) * 3
    for absent in ("answer-failed", "STOPPED", "来源已删除", "回答依据的原文，"):
        assert absent not in page


def test_running_answer_connects_to_its_stream(client, session):
    turn = start_turn(session, "问题？")
    url = f"/chat/{session.id}/stream?run={turn.run_id}"
    assert f'sse-connect="{url}"' in page_of(client, session)


def test_chosen_answer_and_source_are_open_without_script(client, session, document):
    first = answer(session, document)
    answer(session, make_document(session.user, "b.md", ["年假二十天。"]))
    page = page_of(client, session, f"?message={first.id}&source=S1")
    assert re.search(r'data-label="S1"\s+open', page)
    assert f'id="sources" data-message="{first.id}"' in page


def test_sources_are_a_fragment_of_one_answer(client, session, document):
    message = answer(session, document)
    url = reverse("chat:sources", args=[session.id, message.id])
    html = client.get(f"{url}?source=S2", headers=HTMX).content.decode()
    assert html.lstrip().startswith('<header class="bar">')
    assert re.search(r'data-label="S2"\s+open', html)
    missing = reverse("chat:sources", args=[session.id, uuid.uuid4()])
    assert client.get(missing, headers=HTMX).status_code == 404


def test_question_text_is_escaped(client, session):
    start_turn(session, "<script>alert(1)</script>")
    assert "<script>alert(1)</script>" not in page_of(client, session)


def test_session_query_count_does_not_grow_with_messages(client, session, document):
    answer(session, document)
    page_of(client, session)
    with CaptureQueriesContext(connection) as one:
        page_of(client, session)
    answer(session, document)
    answer(session, document)
    with CaptureQueriesContext(connection) as three:
        page_of(client, session)
    assert len(one) == len(three) == 8


def test_long_conversation_shows_its_end_and_on_request_all(client, user):
    texts = [("user", f"问 {n}。") for n in range(50)]
    session = create_session(user, messages=[ImportedMessage(*text) for text in texts])
    page = page_of(client, session)
    assert "问 9。" not in page
    assert "问 10。" in page
    assert "显示更早的消息" in page
    whole = page_of(client, session, "?all=1")
    assert "问 0。" in whole
    assert "显示更早的消息" not in whole


@pytest.mark.parametrize("name", ["session", "rename", "delete", "stream"])
def test_foreign_session_looks_missing(client, foreign_session, name):
    response = client.get(reverse(f"chat:{name}", args=[foreign_session.id]))
    assert response.status_code == 404
    assert "fremd" not in response.content.decode()


@pytest.mark.parametrize("name", ["ask", "stop", "rename", "delete"])
def test_foreign_session_cannot_be_changed(client, foreign_session, name):
    url = reverse(f"chat:{name}", args=[foreign_session.id])
    assert client.post(url, {"question": "x", "title": "x"}).status_code == 404
    foreign_session.refresh_from_db()
    assert (foreign_session.title, foreign_session.deleted_at) == ("fremd", None)


def test_empty_question_answers_422_with_the_composer(client, session):
    url = reverse("chat:ask", args=[session.id])
    fragment = client.post(url, {"question": " "}, headers=HTMX)
    page = client.post(url, {"question": " "})
    assert (fragment.status_code, page.status_code) == (422, 422)
    assert fragment.content.decode().lstrip().startswith('<form class="composer"')
    assert (fragment["HX-Retarget"], fragment["HX-Reswap"]) == ("#composer", "outerHTML")
    for response in (fragment, page):
        assert "请输入问题。" in response.content.decode()


def test_refused_first_question_leaves_no_session(client, user):
    response = client.post("/chat/new/ask", {"question": ""})
    assert response.status_code == 422
    assert not AgentChatSession.objects.of(user).exists()


def test_opening_a_forms_address_leads_to_its_page(client, session):
    page = f"/chat/{session.id}"
    addresses = [
        "/chat/new/ask",
        f"{page}/ask",
        f"{page}/stop",
        f"{page}/messages/{session.id}/resend",
    ]
    assert [client.get(url).headers.get("Location") for url in addresses] == [
        "/chat/new",
        *[page] * 3,
    ]
    assert client.put(addresses[1]).status_code == 405


def test_second_question_while_one_runs_keeps_its_text(client, session):
    start_turn(session, "一？")
    url = reverse("chat:ask", args=[session.id])
    response = client.post(url, {"question": "二？"}, headers=HTMX)
    assert response.status_code == 422
    assert "正在生成回答" in response.content.decode()
    assert '<button class="button button-small" form="stop-form">' in response.content.decode()
    assert f'<a href="/chat/{session.id}">刷新页面</a>' in response.content.decode()
    assert ">二？</textarea>" in response.content.decode()


@pytest.mark.django_db(transaction=True)
async def test_question_answers_with_its_turn_and_streams_fragments(async_client, user):
    session = await sync_to_async(create_session)(user)
    url = reverse("chat:ask", args=[session.id])
    response = await async_client.post(url, {"question": "你好"}, headers=HTMX)
    html = response.content.decode()
    assert html.lstrip().startswith('<article class="question"')
    stream = await async_client.get(re.search(r'sse-connect="([^"]+)"', html)[1])
    body = b"".join([part async for part in stream.streaming_content]).decode()
    events = re.findall(r"^event: (\w+)$", body, re.MULTILINE)
    assert [events[0], events[-1]] == ["stage", "final"]
    assert set(events) == {"stage", "token", "final"}
    completed = AgentChatMessage.objects.conversation().filter(status="completed")
    assert await completed.acount() == 2


@pytest.mark.django_db(transaction=True)
async def test_first_question_makes_a_session_and_opens_it(async_client, user):
    response = await async_client.post("/chat/new/ask", {"question": "你好"})
    session = await AgentChatSession.objects.aget()
    assert response["Location"] == f"/chat/{session.id}"
    message = await session.messages.aget(role="assistant")
    run = running.find(message.run_id)
    async for _event in run.events(0, grace_s=0, heartbeat_s=15):
        pass


def test_stop_ends_a_run(client, session):
    turn = start_turn(session, "问题？")
    response = client.post(reverse("chat:stop", args=[session.id]), headers=HTMX)
    assert response.status_code == 204
    message = AgentChatMessage.objects.get(id=turn.message_id)
    assert (message.status, message.error_code) == ("failed", "STOPPED")


def test_resend_of_a_good_answer_is_refused_with_a_reason(client, session, document):
    message = answer(session, document)
    url = reverse("chat:resend", args=[session.id, message.id])
    response = client.post(url, follow=True)
    assert [str(m) for m in response.context["messages"]] == ["只有失败的回答可以重新发送。"]


def test_rename_is_a_dialog_and_a_page(client, session):
    url = reverse("chat:rename", args=[session.id])
    assert client.get(url).content.decode().startswith("<!doctype html>")
    dialog = client.get(url, headers=HTMX).content.decode()
    assert dialog.lstrip().startswith('<form class="ask"')
    assert client.post(url, {"title": "甲"})["Location"] == f"/chat/{session.id}"
    assert client.post(url, {"title": "乙"}, headers=HTMX)["HX-Redirect"] == f"/chat/{session.id}"
    session.refresh_from_db()
    assert session.title == "乙"


@pytest.mark.parametrize("title", ["", " ", "长" * 256])
def test_invalid_title_answers_422_with_the_form(client, session, title):
    response = client.post(
        reverse("chat:rename", args=[session.id]), {"title": title}, headers=HTMX
    )
    assert response.status_code == 422
    assert "请输入标题，最多 255 个字符。" in response.content.decode()


def test_session_is_deleted_after_a_question(client, user, session):
    url = reverse("chat:delete", args=[session.id])
    assert "删除这个会话？" in client.get(url, headers=HTMX).content.decode()
    assert client.post(url)["Location"] == "/chat"
    assert not AgentChatSession.objects.of(user).exists()


def test_cut_titles_end_in_an_ellipsis(client, user):
    start_turn(create_session(user), "一二三四五六七八九十" * 4)
    start_turn(create_session(user), "甲乙丙丁戊己庚辛壬癸" * 3)
    page = client.get("/chat/sessions").content.decode()
    assert re.findall(r'<span dir="auto">([^<]*)</span>', page) == [
        "甲乙丙丁戊己庚辛壬癸" * 3,
        f"{'一二三四五六七八九十' * 3}…",
    ]


def test_session_list_is_searched_and_extended(client, user):
    for number in range(61):
        create_session(user, title=f"会话 {number}")
    html = client.get("/chat/sessions", headers=HTMX).content.decode()
    assert html.lstrip().startswith('<div id="sessions"')
    assert html.count('class="session"') == 60
    more = client.get("/chat/sessions?limit=120", headers=HTMX).content.decode()
    assert more.count('class="session"') == 61
    most = client.get("/chat/sessions?limit=" + "9" * 5000, headers=HTMX).content.decode()
    assert most.count('class="session"') == 61
    found = client.get("/chat/sessions?q=会话 60", headers=HTMX).content.decode()
    assert found.count('class="session"') == 1


def test_imported_conversation_shows(client, user):
    session = create_session(
        user, messages=[ImportedMessage("user", "问"), ImportedMessage("assistant", "答 [S1]")]
    )
    assert "1 来源已删除" in page_of(client, session)


def test_search_without_a_query_is_not_shown(client, session, document):
    message = answer(session, document, before=[SEARCH])
    assert "检索 1 次" in page_of(client, session)
    rows = AgentChatMessage.objects.filter(run_id=message.run_id, role="tool")
    rows.update(content=json.dumps({}))
    assert "检索 1 次" not in page_of(client, session)
