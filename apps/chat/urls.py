"""Pages of the chat app."""

app_name = "chat"
urlpatterns: list[object] = []
