"""Every page answers with and without the last slash, and to HEAD as to GET."""

from __future__ import annotations

import uuid

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import URLResolver, get_resolver, reverse

from apps.accounts.local_user import local_user
from apps.chat.models import AgentChatSession
from apps.documents.models import Chunk, Document

pytestmark = pytest.mark.django_db
NO_PAGES = {"admin", "api"}  # namespaces: Django's own pages, and an interface for programs
STREAM = "chat:stream"


def page_names(resolver=None, prefix=""):
    """Yield the name of each route outside of `NO_PAGES`, with its namespace."""
    for entry in (resolver or get_resolver()).url_patterns:
        if not isinstance(entry, URLResolver):
            yield prefix + entry.name
        elif entry.namespace not in NO_PAGES:
            yield from page_names(entry, f"{entry.namespace}:" if entry.namespace else prefix)


PAGES = sorted({*page_names()} - {STREAM})


@pytest.fixture
def parts(settings, tmp_path):
    """The parts of addresses, of one document and one session that exist."""
    settings.RAW_DIR = tmp_path
    user = local_user()
    document = Document.objects.create(
        owner=user, filename="a.md", file_type="md", mime_type="text/markdown", file_size=5,
        sha256="0" * 64,
    )  # fmt: skip
    document.stored_path.parent.mkdir(parents=True, exist_ok=True)
    document.stored_path.write_bytes(b"# One")
    chunk = Chunk.objects.create(
        id=uuid.uuid4(), document=document, order_index=0, content="One",
        start_char=0, end_char=3, char_count=3,
    )  # fmt: skip
    session = AgentChatSession.objects.create(user=user, title="old")
    session.messages.create(seq=1, role="user", content="One?")
    message = session.messages.create(seq=2, role="assistant", content="One.")
    return {
        "document_id": document.id,
        "chunk_id": chunk.id,
        "session_id": session.id,
        "message_id": message.id,
    }


def address(name, parts):
    pattern = get_resolver()
    for namespace in name.split(":")[:-1]:
        pattern = pattern.namespace_dict[namespace][1]
    (((_, needed),), *_), *_ = pattern.reverse_dict.getlist(name.rpartition(":")[2])
    return reverse(name, kwargs={key: parts[key] for key in needed})


def other_form(path):
    return path[:-1] if path.endswith("/") else f"{path}/"


def facts(response):
    """What two answers must share: texts hold a token that differs, of one length."""
    body = response.getvalue() if response.streaming else response.content
    names = ("Location", "Content-Type", "Content-Length", "Content-Disposition", "Vary")
    return response.status_code, [response.get(name) for name in names], len(body)


@pytest.mark.parametrize("name", PAGES)
def test_page_answers_with_and_without_the_last_slash(client, parts, name):
    path = address(name, parts)
    first, second = (facts(client.get(form)) for form in (path, other_form(path)))
    assert first[0] in {200, 302, 503}  # 503: /health without its other processes
    if name != "health":  # whose measured times differ
        assert second == first
    assert second[0] == first[0]


@pytest.mark.parametrize("name", PAGES)
def test_head_answers_like_get_and_changes_nothing(client, parts, name):
    path, before = address(name, parts), Document.objects.get()
    status, headers, _ = facts(client.get(path))
    for form in (path, other_form(path)):
        head_status, head_headers, head_length = facts(client.head(form))
        assert (head_status, head_length) == (status, 0)
        if name != "health":
            assert head_headers == headers
    document, session = Document.objects.get(), AgentChatSession.objects.get()
    assert (document.filename, document.status) == ("a.md", before.status)
    assert (session.title, session.deleted_at, session.messages.count()) == ("old", None, 2)


def test_stream_is_no_page(client, parts):
    assert client.head(address(STREAM, parts)).status_code == 405


def test_download_of_the_api_answers_head(client, parts):
    path = f"/api/v1/documents/{parts['document_id']}/file"
    got, asked = client.get(path), client.head(path)
    assert facts(asked) == (*facts(got)[:2], 0)
    assert asked["Content-Length"] == "5"


def test_form_posted_to_the_other_address_arrives_whole(client, parts):
    session = AgentChatSession.objects.get()
    renamed = client.post(other_form(address("chat:rename", parts)), {"title": "new"})
    session.refresh_from_db()
    assert (renamed.status_code, session.title) == (302, "new")
    file = SimpleUploadedFile("b.md", b"# Two\n\nText of the second document.")
    client.post(other_form(reverse("documents:upload")), {"files": [file]})
    assert Document.objects.filter(filename="b.md").count() == 1
    language = client.post(other_form(reverse("set_language")), {"language": "en"})
    assert (language.status_code, "django_language" in client.cookies) == (302, True)


@pytest.mark.parametrize("path", ["/", "/chat", "/chat/", "/documents", "/documents/"])
def test_form_posted_to_a_page_without_one_is_refused_not_redirected(client, path):
    assert client.post(path, {"query": "One?"}).status_code == 405


@pytest.mark.parametrize("path", ["/admin", "/admin/llm/llm", "/admin/accounts/user/add"])
def test_admin_answers_without_the_last_slash(client, path):
    assert client.get(path).status_code == 200


@pytest.mark.parametrize("path", ["/documents//", "/nothing", "/nothing/", "/admin/nothing"])
def test_address_that_exists_in_neither_form_is_not_found(client, path):
    assert client.get(path).status_code == 404
