"""Routes: pages, the JSON API, health and the admin."""

from django.contrib import admin
from django.urls import include, path

from kbqa_project.api import api
from kbqa_project.health import health

urlpatterns = [
    path("health", health, name="health"),
    path("api/v1/", api.urls),
    path("admin/", admin.site.urls),
    path("i18n/", include("django.conf.urls.i18n")),
    path("", include("apps.accounts.urls")),
    path("", include("apps.documents.urls")),
    path("", include("apps.chat.urls")),
]
