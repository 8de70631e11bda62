"""The sessions and questions part of the JSON API (003 §12.2).

Every queryset starts from the asker's own sessions: another person's session is not found.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Annotated, Literal, cast
from uuid import UUID  # noqa: TC003 - Ninja reads the annotations

from django.http import HttpResponse
from ninja import Query, Router, Status

from apps.chat.api_schemas import (
    ErrorOut,
    MessageOut,
    MessagePage,
    QuestionIn,
    SessionIn,
    SessionOut,
    SessionPage,
    SessionPatch,
    StopOut,
)
from apps.chat.costs.cost_schemas import CallOut, CostsOut, SessionCostsOut
from apps.chat.costs.reports import GroupBy, cost_sums, zone_name
from apps.chat.models import CNY, AgentChatSession
from apps.chat.runs import answering
from apps.chat.sessions import ImportedMessage, create_session, delete_session, rename_session
from apps.chat.streams import subscribe
from apps.chat.turns.notes import refusal_notes

if TYPE_CHECKING:
    from django.http import HttpRequest, StreamingHttpResponse

    from apps.accounts.models import User

router = Router(tags=["chat"])

Limit = Annotated[int, Query(ge=1, le=200)]
Offset = Annotated[int, Query(ge=0, le=10_000_000)]
FirstDay = Annotated[date | None, Query(alias="from")]
LastDay = Annotated[date | None, Query(alias="to")]
EMPTY_SESSION = SessionIn()
STREAM_DOCUMENTATION = {
    "responses": {
        200: {
            "description": (
                "Server-sent events: status {phase}, sources {sources}, token {content}, then one "
                "of done {message_id, outcome} and error {code, message, retryable, message_id}"
            ),
            "content": {"text/event-stream": {}},
        }
    }
}


@router.post("/sessions", response={201: SessionOut, 422: ErrorOut})
def post_session(request: HttpRequest, body: SessionIn = EMPTY_SESSION) -> Status[SessionOut]:
    """Make a session, with a title and earlier messages if given."""
    messages = [ImportedMessage(message.role, message.content) for message in body.messages]
    session = create_session(_person(request), title=body.title, messages=messages)
    return Status(201, SessionOut.model_validate(session))


@router.get("/sessions", response=SessionPage)
def list_sessions(
    request: HttpRequest, limit: Limit = 20, offset: Offset = 0, q: str = ""
) -> SessionPage:
    """List sessions by last activity, the latest first; `q` searches titles and messages."""
    found = AgentChatSession.objects.of(_person(request)).recent_first()
    if q.strip():
        found = found.matching(q.strip())
    items = [SessionOut.model_validate(session) for session in found[offset : offset + limit]]
    return SessionPage(items=items, count=found.count())


@router.get("/sessions/{session_id}", response={200: SessionOut, 404: ErrorOut})
def get_session(request: HttpRequest, session_id: UUID) -> SessionOut:
    """Return one session."""
    return SessionOut.model_validate(_session(request, session_id))


@router.patch("/sessions/{session_id}", response={200: SessionOut, 404: ErrorOut, 422: ErrorOut})
def patch_session(request: HttpRequest, session_id: UUID, body: SessionPatch) -> SessionOut:
    """Rename a session."""
    session = _session(request, session_id)
    rename_session(session, body.title)
    return SessionOut.model_validate(session)


@router.delete("/sessions/{session_id}", response={204: None, 404: ErrorOut})
def remove_session(request: HttpRequest, session_id: UUID) -> HttpResponse:
    """Delete a session with its messages and sources; an answer in progress ends."""
    delete_session(_session(request, session_id))
    return HttpResponse(status=204)


@router.get("/sessions/{session_id}/messages", response={200: MessagePage, 404: ErrorOut})
def list_messages(
    request: HttpRequest,
    session_id: UUID,
    limit: Limit = 100,
    offset: Offset = 0,
    include: Literal["", "tool"] = "",
) -> MessagePage:
    """List questions and answers in order with their valid sources, on demand tool messages."""
    messages = _session(request, session_id).messages
    refused = refusal_notes(_person(request))
    found = messages.visible() if include == "tool" else messages.conversation()
    page = found.with_sources()[offset : offset + limit]
    return MessagePage(
        items=[MessageOut.of(message, refused) for message in page], count=found.count()
    )


@router.post("/sessions/{session_id}/stop", response={200: StopOut, 404: ErrorOut})
def stop_session(request: HttpRequest, session_id: UUID) -> StopOut:
    """Stop the answer in progress; it ends as failed with what was written so far."""
    return StopOut(stopped=answering.stop_answer(_session(request, session_id)))


@router.post("/chat/stream", openapi_extra=STREAM_DOCUMENTATION)
async def stream_answer(request: HttpRequest, body: QuestionIn) -> StreamingHttpResponse:
    """Ask a question and stream the answer; 404, 409 and 422 come as JSON before the stream."""
    user = cast("User", await request.auser())
    return await subscribe.json_stream(user, body.session_id, body.query)


@router.get("/sessions/{session_id}/costs", response={200: SessionCostsOut, 404: ErrorOut})
def get_session_costs(request: HttpRequest, session_id: UUID) -> SessionCostsOut:
    """Return what a session cost, call by call."""
    session = _session(request, session_id)
    return SessionCostsOut(
        currency=session.billing_currency,
        total_cost=session.total_cost,
        total_tokens=session.total_tokens,
        unpriced_calls=session.unpriced_calls,
        calls=[CallOut.model_validate(call) for call in session.model_calls.all()],
    )


@router.get("/costs", response={200: CostsOut, 422: ErrorOut}, by_alias=True)
def get_costs(
    request: HttpRequest,
    first_day: FirstDay = None,
    last_day: LastDay = None,
    group_by: GroupBy = "day",
) -> CostsOut:
    """Return what all sessions cost, deleted ones too, by day, model, stage or session."""
    sums = cost_sums(_person(request), group_by, first_day=first_day, last_day=last_day)
    return CostsOut(
        currency=CNY,
        group_by=group_by,
        time_zone=zone_name(_person(request)),
        first_day=first_day,
        last_day=last_day,
        total_cost=sum(entry.cost or 0 for entry in sums),
        total_tokens=sum(entry.input_tokens + entry.output_tokens for entry in sums),
        unpriced_calls=sum(entry.unpriced_calls for entry in sums),
        items=sums,
    )


def _person(request: HttpRequest) -> User:
    return cast("User", request.user)


def _session(request: HttpRequest, session_id: UUID) -> AgentChatSession:
    return AgentChatSession.objects.of(_person(request)).found(session_id)
