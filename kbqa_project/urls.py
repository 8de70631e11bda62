"""Routes: pages, the JSON API, health and the admin."""

from django.contrib import admin
from django.urls import include, path

from kbqa_project.api import api
from kbqa_project.health import health

handler400 = "kbqa_project.error_answers.bad_request"
handler403 = "kbqa_project.error_answers.permission_denied"
handler404 = "kbqa_project.error_answers.page_not_found"
handler500 = "kbqa_project.error_answers.server_error"

# It would redirect to the address with a slash, and so lose a posted form.
admin.site.final_catch_all_view = False

urlpatterns = [
    path("health", health, name="health"),
    path("api/v1/", api.urls),
    path("admin/", admin.site.urls),
    path("i18n/", include("django.conf.urls.i18n")),
    path("", include("apps.accounts.urls")),
    path("", include("apps.documents.web.urls")),
    path("", include("apps.chat.urls")),
]
