"""Pages of the documents app."""

app_name = "documents"
urlpatterns: list[object] = []
