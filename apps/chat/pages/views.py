"""The chat pages: conversations, asking, stopping, sources. The running answer is in `streams`."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from asgiref.sync import sync_to_async
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe
from django_htmx.http import HttpResponseClientRedirect, reswap, retarget

from apps.chat.errors import RunInProgressError
from apps.chat.models import AgentChatSession, MessageRole
from apps.chat.pages.examples import example_questions
from apps.chat.pages.view_models import (
    MessageView,
    SessionView,
    conversation_of,
    message_of,
    recent_from_seq,
    session_view,
    sources_context,
    steps_at,
)
from apps.chat.runs.answering import ask, ask_again, stop_answer
from apps.chat.sessions import create_session, delete_session, rename_session
from apps.core.errors import AppError, NotFoundError, ValidationFailedError
from apps.core.web.http import form_of, render_page
from apps.documents.holdings import holdings_of
from apps.documents.indexing.index_definition import outdated

if TYPE_CHECKING:
    from uuid import UUID

    from apps.accounts.models import User
    from apps.accounts.requests import PersonRequest
    from apps.chat.turns.turn import StartedTurn

SESSIONS_STEP = 60
MAX_SESSIONS_SHOWN = 2000
MAX_LIMIT_DIGITS = 9  # int() refuses thousands of digits


@require_safe
@login_required
def latest(request: PersonRequest) -> HttpResponse:
    """Open the most recent session, or the page of a new one."""
    session = AgentChatSession.objects.of(request.user).recent_first().first()
    return redirect("chat:new") if session is None else redirect("chat:session", session.id)


@require_safe
@login_required
def new(request: PersonRequest) -> HttpResponse:
    """Return the page of a session that its first question will make."""
    return _chat_page(request, None)


@require_safe
@login_required
def session_page(request: PersonRequest, session_id: UUID) -> HttpResponse:
    """Return a session's page; `message` chooses whose sources show, `source` which is open."""
    return _chat_page(request, _own_session(request.user, session_id))


@require_safe
@login_required
def session_list(request: PersonRequest) -> HttpResponse:
    """Return the `sessions` fragment of the left pane."""
    return render(request, "chat/page.html#sessions", _sessions_context(request, None))


@require_safe
@login_required
def sources(request: PersonRequest, session_id: UUID, message_id: UUID) -> HttpResponse:
    """Return the right pane with the sources of one answer, as a fragment."""
    message = message_of(_own_session(request.user, session_id), message_id)
    if message is None:
        raise NotFoundError
    context = {**sources_context(message), "open_label": request.GET.get("source")}
    return render(request, "chat/sources.html", context)


@form_of("chat:new")
@login_required
async def ask_first(request: PersonRequest) -> HttpResponse:
    """Make a session with its first question and open it."""
    user = await request.auser()
    session = await sync_to_async(create_session)(user)
    try:
        await ask(session, request.POST.get("question", ""))
    except AppError as error:
        await sync_to_async(delete_session)(session)
        return await sync_to_async(_refused)(request, None, error)
    return redirect("chat:session", session.id)


@form_of("chat:session", "session_id")
@login_required
async def ask_next(request: PersonRequest, session_id: UUID) -> HttpResponse:
    """Ask in a session; to htmx the `turn` fragment, or 422 with the composer."""
    user = await request.auser()
    session = await sync_to_async(_own_session)(user, session_id)
    try:
        turn = await ask(session, request.POST.get("question", ""))
    except AppError as error:
        return await sync_to_async(_refused)(request, session, error)
    if not request.htmx:
        return redirect("chat:session", session_id)
    return await sync_to_async(_turn)(request, session, turn)


@form_of("chat:session", "session_id")
@login_required
async def resend(request: PersonRequest, session_id: UUID, message_id: UUID) -> HttpResponse:
    """Ask the question of a failed answer again and return to the session."""
    user = await request.auser()
    session = await sync_to_async(_own_session)(user, session_id)
    try:
        await ask_again(session, message_id)
    except AppError as error:
        await sync_to_async(messages.error)(request, error.text)
    return redirect("chat:session", session_id)


@form_of("chat:session", "session_id")
@login_required
def stop(request: PersonRequest, session_id: UUID) -> HttpResponse:
    """Stop the running answer; the stream then brings its end."""
    stop_answer(_own_session(request.user, session_id))
    return HttpResponse(status=204) if request.htmx else redirect("chat:session", session_id)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def rename(request: PersonRequest, session_id: UUID) -> HttpResponse:
    """Ask for a title (a page, or to htmx the dialog's content); POST sets it."""
    session = _own_session(request.user, session_id)
    context = {"session": session, "title": session.title or "", "is_rename": True}
    if request.method != "POST":
        return render_page(request, "chat/ask_about_session.html", context, fragment="rename")
    try:
        rename_session(session, request.POST.get("title", ""))
    except ValidationFailedError:
        context["title"] = request.POST.get("title", "")
        context["error"] = _("请输入标题，最多 255 个字符。")
        return render_page(
            request, "chat/ask_about_session.html", context, fragment="rename", status=422
        )
    address = reverse("chat:session", args=[session_id])
    return HttpResponseClientRedirect(address) if request.htmx else redirect(address)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def delete(request: PersonRequest, session_id: UUID) -> HttpResponse:
    """Ask whether to delete a session (a page, or the dialog's content); POST deletes."""
    session = _own_session(request.user, session_id)
    if request.method != "POST":
        return render_page(
            request, "chat/ask_about_session.html", {"session": session}, fragment="delete"
        )
    delete_session(session)
    messages.success(request, _("会话已删除"))
    return redirect("chat:latest")


def _own_session(user: User, session_id: UUID) -> AgentChatSession:
    return AgentChatSession.objects.of(user).with_first_question().found(session_id)


def _chat_page(
    request: PersonRequest,
    session: AgentChatSession | None,
    *,
    refusal: AppError | None = None,
) -> HttpResponse:
    is_whole = not {"all", "message"}.isdisjoint(request.GET)
    from_seq = 0 if session is None or is_whole else recent_from_seq(session)
    conversation = [] if session is None else conversation_of(session, from_seq=from_seq)
    pane = _pane(conversation, request.GET.get("message"))
    context = {
        "session": session,
        "title": _("新会话") if session is None else session_view(session).title,
        "conversation": conversation,
        "has_earlier": from_seq > 0,
        **({} if pane is None else sources_context(pane)),
        "open_label": request.GET.get("source"),
        **_sessions_context(request, session),
        **_composer_context(request, session, refusal),
        "examples": [] if conversation else example_questions(request.user),
        "holdings": holdings_of(request.user) if _tells_holdings(conversation) else None,
        "index_error": outdated(),
        "steps": steps_at("intent"),
    }
    status = 200 if refusal is None else refusal.http_status
    return render(request, "chat/page.html", context, status=status)


def _tells_holdings(conversation: list[MessageView]) -> bool:
    """Whether the page says what can be searched: the welcome does, and a search of nothing."""
    return not conversation or any(m.is_refusal and not m.sources for m in conversation)


def _pane(conversation: list[MessageView], message_id: str | None) -> MessageView | None:
    """Return the answer whose sources show: the chosen, else the last that has or gets some."""
    answers = [m for m in conversation if m.row.role == MessageRole.ASSISTANT]
    chosen = [m for m in answers if str(m.row.id) == message_id]
    candidates = chosen or [m for m in answers if m.sources or m.is_running] or answers
    return candidates[-1] if candidates else None


def _sessions_context(
    request: PersonRequest, session: AgentChatSession | None
) -> dict[str, object]:
    query = request.GET.get("q", "")[:255]
    asked = request.GET.get("limit", "")[:MAX_LIMIT_DIGITS]
    limit = min(int(asked), MAX_SESSIONS_SHOWN) if asked.isdecimal() else SESSIONS_STEP
    found = AgentChatSession.objects.of(request.user).with_first_question().recent_first()
    if query:
        found = found.matching(query)
    rows = [session_view(row) for row in found[: limit + 1]]
    current = str(session.id) if session else request.GET.get("current", "")
    address = reverse("chat:sessions")
    place = {"current": current, "q": query} if query else {"current": current}
    return {
        "sessions": rows[:limit],
        "session_query": query,
        "current_id": session.id if session else _uuid_in(rows, current),
        "sessions_url": f"{address}?{urlencode({'current': current})}",
        "more_url": f"{address}?{urlencode({**place, 'limit': limit + SESSIONS_STEP})}"
        if len(rows) > limit
        else "",
    }


def _uuid_in(rows: list[SessionView], text: str) -> UUID | None:
    return next((row.id for row in rows if str(row.id) == text), None)


def _composer_context(
    request: PersonRequest, session: AgentChatSession | None, refusal: AppError | None
) -> dict[str, object]:
    address = reverse("chat:ask", args=[session.id]) if session else reverse("chat:ask_first")
    return {
        "session": session,
        "ask_url": address,
        "composer_error": "" if refusal is None else refusal.text,
        "is_busy": isinstance(refusal, RunInProgressError),
        "question_text": "" if refusal is None else request.POST.get("question", ""),
    }


def _refused(
    request: PersonRequest, session: AgentChatSession | None, error: AppError
) -> HttpResponse:
    """Return the composer with the reason: the whole page, or the form alone to htmx."""
    if not request.htmx:
        return _chat_page(request, session, refusal=error)
    response = render(
        request,
        "chat/page.html#composer",
        _composer_context(request, session, error),
        status=422,
    )
    return reswap(retarget(response, "#composer"), "outerHTML")


def _turn(request: PersonRequest, session: AgentChatSession, turn: StartedTurn) -> HttpResponse:
    context = {
        "message": MessageView(session.messages.get(id=turn.question_id)),
        "message_id": turn.message_id,
        "session_id": session.id,
        "run_id": turn.run_id,
        "steps": steps_at("intent"),
    }
    return render(request, "chat/message.html#turn", context)
