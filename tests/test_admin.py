"""The admin opens in local mode, changes nothing that audits, and asks few questions."""

from __future__ import annotations

import json
import uuid

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.accounts.local_user import local_user
from apps.accounts.models import Profile
from apps.chat.models import AgentChatMessage, AgentChatSession, MessageSource, ModelCall
from apps.core.web.admin import COUNT_LIMIT, BoundedPaginator
from apps.documents.models import Chunk, Document, IndexJob
from apps.llm.models import LLM, LLMFactory

pytestmark = pytest.mark.django_db
AUDITED = [
    "accounts_profile",
    "chat_agentchatsession",
    "chat_agentchatmessage",
    "chat_messagesource",
    "chat_modelcall",
    "documents_document",
    "documents_indexjob",
    "documents_chunk",
    "documents_vectorindex",
    "llm_llm",
    "llm_llmfactory",
]
EDITED = ["accounts_user"]


def add_rows():
    """One row of each audited table, of one conversation about one document."""
    user = local_user()
    document = Document.objects.create(
        owner=user, filename="<b>.md", file_type="md", mime_type="x", file_size=1, sha256="0" * 64
    )
    IndexJob.objects.create(document=document)
    Profile.objects.get_or_create(user=user, username="<b>")
    chunk = Chunk.objects.create(
        id=uuid.uuid4(), document=document, order_index=0, content="<b>text",
        start_char=0, end_char=1, char_count=1,
    )  # fmt: skip
    session = AgentChatSession.objects.create(user=user, title="<b>title")
    message = session.messages.create(seq=1, role="assistant", content="<b>", cost=None)
    message.metadata = {"cost_source": "unpriced"}
    message.save()
    session.messages.create(seq=-1, role="system", content=json.dumps({}))
    MessageSource.objects.create(
        message=message, document=document, chunk=chunk, citation_label="S1", score=0.5
    )
    ModelCall.objects.create(
        session=session, message=message, run_id=uuid.uuid4(), stage="intent", kind="chat",
        model_code="<b>", cost=None, cost_source="unpriced", started_at=timezone.now(),
    )  # fmt: skip
    return session


@pytest.mark.parametrize("table", [*AUDITED, *EDITED])
def test_list_opens_with_few_queries_whatever_its_length(client, table):
    add_rows()
    url = reverse(f"admin:{table}_changelist")
    assert client.get(url).status_code == 200
    with CaptureQueriesContext(connection) as one:
        client.get(url)
    add_rows()
    add_rows()
    with CaptureQueriesContext(connection) as three:
        client.get(url)
    assert len(one) == len(three)


@pytest.mark.parametrize("table", AUDITED)
def test_audited_tables_cannot_be_changed(client, table):
    session = add_rows()
    assert client.get(reverse(f"admin:{table}_add")).status_code == 403
    url = reverse("admin:chat_agentchatsession_change", args=[session.id])
    assert client.post(url, {"title": "changed"}).status_code == 403


@pytest.mark.parametrize("model", [LLM, LLMFactory])
def test_catalogue_is_shown_with_the_reason_why_it_cannot_be_changed(client, model):
    call_command("seed_catalogue")
    row = model.objects.order_by("pk").first()
    before = model.objects.filter(pk=row.pk).values().get()
    name = f"admin:llm_{model._meta.model_name}"
    pages = [reverse(f"{name}_changelist"), reverse(f"{name}_change", args=[row.pk])]
    for language, reason in (("zh-hans", "程序只读取该文件"), ("en", "reads the file alone")):
        shown = [client.get(page, headers={"Accept-Language": language}) for page in pages]
        assert [reason in page.content.decode() for page in shown] == [True, True]
        assert ["llm_catalog.yaml" in page.content.decode() for page in shown] == [True, True]
    changes = {"name": "x", "request_url": "https://x.example", "model_code": "x"}
    assert client.post(pages[1], changes).status_code == 403
    assert (
        client.post(reverse(f"{name}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403
    )
    assert model.objects.filter(pk=row.pk).values().get() == before


def test_session_shows_its_visible_and_audit_messages(client):
    session = add_rows()
    page = client.get(reverse("admin:chat_agentchatsession_change", args=[session.id]))
    assert [
        formset.opts.__class__.__name__ for formset in page.context["inline_admin_formsets"]
    ] == [
        "VisibleMessageInline",
        "AuditMessageInline",
    ]
    assert "<b>title" not in page.content.decode()


def test_unpriced_messages_calls_and_jobs_are_told_apart(client):
    add_rows()
    IndexJob.objects.update(cost_micro=None, cost_source="unpriced")
    tables = ("chat_agentchatmessage", "chat_modelcall", "documents_indexjob")
    pages = [client.get(reverse(f"admin:{table}_changelist")) for table in tables]
    assert ["unpriced</td>" in page.content.decode() for page in pages] == [True] * 3


def test_big_tables_are_counted_up_to_a_limit(django_assert_num_queries):
    add_rows()
    paginator = BoundedPaginator(AgentChatMessage.objects.order_by("seq"), 50)
    with django_assert_num_queries(1) as queries:
        assert paginator.count == 2
    assert f"LIMIT {COUNT_LIMIT}" in queries.captured_queries[0]["sql"]


def test_admin_needs_a_staff_account_in_login_mode(client, settings):
    settings.LOCAL_MODE = False
    response = client.get("/admin/")
    assert response["Location"] == "/admin/login/?next=/admin/"


def test_titles_count_in_english(client):
    pages = [
        client.get(reverse(name), headers={"Accept-Language": "en"}).content.decode()
        for name in ("admin:llm_llm_changelist", "admin:accounts_profile_changelist")
    ]
    assert "Select model to view" in pages[0]
    assert "Select profile to view" in pages[1]
    assert "0 Profiles" in pages[1]
