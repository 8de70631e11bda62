"""Pages of the chat app."""

from django.contrib.auth.decorators import login_required
from django.urls import path
from django.views.generic import RedirectView

from apps.chat.pages import views
from apps.chat.streams import subscribe

app_name = "chat"
urlpatterns = [
    path(
        "",
        # A form posted here is refused: the redirect would lose it.
        RedirectView.as_view(pattern_name="chat:latest", http_method_names=["get", "head"]),
        name="home",
    ),
    path("chat", views.latest, name="latest"),
    path("chat/new", views.new, name="new"),
    path("chat/new/ask", views.ask_first, name="ask_first"),
    path("chat/sessions", views.session_list, name="sessions"),
    path("chat/<uuid:session_id>", views.session_page, name="session"),
    path("chat/<uuid:session_id>/ask", views.ask_next, name="ask"),
    path("chat/<uuid:session_id>/stop", views.stop, name="stop"),
    path("chat/<uuid:session_id>/stream", login_required(subscribe.page_stream), name="stream"),
    path("chat/<uuid:session_id>/rename", views.rename, name="rename"),
    path("chat/<uuid:session_id>/delete", views.delete, name="delete"),
    path(
        "chat/<uuid:session_id>/messages/<uuid:message_id>/sources", views.sources, name="sources"
    ),
    path("chat/<uuid:session_id>/messages/<uuid:message_id>/resend", views.resend, name="resend"),
]
