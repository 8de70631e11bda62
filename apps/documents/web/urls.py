"""Pages of the documents app."""

from django.urls import path

from apps.documents.web import views

app_name = "documents"
urlpatterns = [
    path("documents", views.document_list, name="list"),
    path("documents/upload", views.upload, name="upload"),
    path("documents/retry", views.retry_failed, name="retry_failed"),
    path("documents/<uuid:document_id>", views.document_detail, name="detail"),
    path("documents/<uuid:document_id>/chunks", views.document_chunks, name="chunks"),
    path("documents/<uuid:document_id>/chunks/<uuid:chunk_id>", views.chunk, name="chunk"),
    path("documents/<uuid:document_id>/retry", views.retry, name="retry"),
    path("documents/<uuid:document_id>/delete", views.delete, name="delete"),
    path("documents/<uuid:document_id>/download", views.download, name="download"),
]
