"""The documents pages: list, upload, detail, retry, deletion, download of the original."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import FileResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_safe

from apps.core.errors import AppError
from apps.core.web.http import form_of, render_page
from apps.documents.errors import HOPELESS_CODES, DocumentNotFoundError, OriginalMissingError
from apps.documents.indexing.deletion import delete_document
from apps.documents.indexing.index_definition import outdated
from apps.documents.models import Document, DocumentStatus
from apps.documents.uploads.accept import accept_upload, retry_document, retry_failed_documents
from apps.documents.warnings import warning_text
from apps.documents.web.forms import SHOWN_STATUSES, SORT_CHOICES, DocumentFilterForm

if TYPE_CHECKING:
    from uuid import UUID

    from django.core.files.uploadedfile import UploadedFile
    from django.http import HttpResponse
    from django.http.response import HttpResponseBase

    from apps.accounts.models import User
    from apps.accounts.requests import PersonRequest

DOCUMENTS_PER_PAGE = 25
CHUNKS_PER_PAGE = 10
UNFINISHED = frozenset({DocumentStatus.PENDING, DocumentStatus.INDEXING})


@dataclass(frozen=True, slots=True)
class UploadOutcome:
    """What became of one uploaded file: `error` is a sentence, or empty when it was accepted."""

    filename: str
    error: str
    http_status: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StatusCounts:
    """How many documents have each status, and how many failed ones a retry may help."""

    by_status: dict[str, int]
    retryable: int


@require_safe
@login_required
def document_list(request: PersonRequest) -> HttpResponse:
    """Return the documents page; to htmx its `listing` with the counts out of band."""
    return render_page(
        request,
        "documents/list.html",
        {**_listing_context(request), "out_of_band": bool(request.htmx)},
        fragment="listing",
    )


@require_safe
@login_required
def document_detail(request: PersonRequest, document_id: UUID) -> HttpResponse:
    """Return the documents page with one document open; to htmx the right pane alone.

    `chunks` chooses which page of its chunks shows.
    """
    document = _own_document(request.user, document_id)
    detail = _detail_context(document, request.GET.get("chunks"))
    context = detail if request.htmx else {**_listing_context(request), **detail}
    return render_page(request, "documents/list.html", context, fragment="detail")


@require_safe
@login_required
def document_chunks(request: PersonRequest, document_id: UUID) -> HttpResponse:
    """Return a page with some of a document's chunks; to htmx the `chunks` alone."""
    document = _own_document(request.user, document_id)
    context = _detail_context(document, request.GET.get("page"))
    return render_page(
        request,
        "documents/chunks_page.html",
        {**context, "document": document, "page": context["chunk_page"]},
        fragment="chunks",
    )


@require_safe
@login_required
def chunk(request: PersonRequest, document_id: UUID, chunk_id: UUID) -> HttpResponse:
    """Lead to the place of one chunk in its document.

    Raises:
        DocumentNotFoundError: the document has no such chunk.
    """
    document = _own_document(request.user, document_id)
    found = document.chunks.filter(id=chunk_id).values_list("order_index", flat=True).first()
    if found is None:
        raise DocumentNotFoundError
    address = reverse("documents:detail", args=[document_id])
    return redirect(f"{address}?chunks={found // CHUNKS_PER_PAGE + 1}#chunk-{chunk_id}")


@form_of("documents:list")
@login_required
def upload(request: PersonRequest) -> HttpResponse:
    """Accept the posted files; return to the list, or give our script the `uploaded` fragment."""
    outcomes = [_accept(request.user, file) for file in request.FILES.getlist("files")]
    if request.htmx:
        status = max((outcome.http_status for outcome in outcomes), default=422)
        return render(
            request, "documents/list.html#uploaded", {"outcomes": outcomes}, status=status
        )
    for outcome in outcomes:
        if outcome.error:
            messages.error(request, f"{outcome.filename}: {outcome.error}")
        else:
            messages.success(request, _("已上传 {name}").format(name=outcome.filename))
            for note in outcome.notes:
                messages.warning(request, f"{outcome.filename}: {note}")
    if not outcomes:
        messages.error(request, _("没有选择文件。"))
    return redirect("documents:list")


@form_of("documents:detail", "document_id")
@login_required
def retry(request: PersonRequest, document_id: UUID) -> HttpResponse:
    """Index a failed document again and return to it."""
    document = _own_document(request.user, document_id)
    try:
        retry_document(document)
    except AppError as error:
        messages.error(request, error.text)
    else:
        messages.success(request, _("已重新开始索引 {name}").format(name=document.filename))
    return redirect("documents:detail", document.id)


@form_of("documents:list")
@login_required
def retry_failed(request: PersonRequest) -> HttpResponse:
    """Index all failed documents again whose file is not itself at fault; return to the list."""
    count = retry_failed_documents(request.user)
    if count:
        text = ngettext(
            "已重新开始索引 {count} 份文档", "已重新开始索引 {count} 份文档", count
        ).format(count=count)
        messages.success(request, text)
    else:
        messages.error(request, _("没有可以重试的文档。"))
    return redirect("documents:list")


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def delete(request: PersonRequest, document_id: UUID) -> HttpResponse:
    """Ask whether to delete a document (a page, or to htmx the dialog's content); POST deletes."""
    document = _own_document(request.user, document_id)
    if request.method != "POST":
        return render_page(
            request, "documents/delete.html", {"document": document}, fragment="ask"
        )
    try:
        delete_document(document)
    except AppError as error:
        messages.error(request, error.text)
    else:
        messages.success(request, _("已删除 {name}").format(name=document.filename))
    return redirect("documents:list")


@require_safe
@login_required
def download(request: PersonRequest, document_id: UUID) -> HttpResponseBase:
    """Return the original as an attachment, under its own name and never to be run.

    Raises:
        OriginalMissingError: the file is gone from the data folder.
    """
    document = _own_document(request.user, document_id)
    try:
        original = document.stored_path.open("rb")
    except FileNotFoundError as error:
        raise OriginalMissingError from error
    return FileResponse(
        original,
        as_attachment=True,
        filename=document.filename,
        content_type="application/octet-stream",
    )


def _own_document(owner: User, document_id: UUID) -> Document:
    try:
        return Document.objects.of(owner).listed().get(id=document_id)
    except Document.DoesNotExist as error:
        raise DocumentNotFoundError from error


def _accept(owner: User, file: UploadedFile[bytes]) -> UploadOutcome:
    name = file.name or ""
    try:
        document = accept_upload(owner, file)
    except AppError as error:
        return UploadOutcome(name, error.text, error.http_status)
    notes = tuple(warning_text(warning) for warning in document.warnings)
    return UploadOutcome(document.filename, "", 200, notes)


def _listing_context(request: PersonRequest) -> dict[str, object]:
    form = DocumentFilterForm(request.GET)
    documents = Document.objects.of(request.user).listed()
    page = Paginator(form.apply(documents), DOCUMENTS_PER_PAGE).get_page(request.GET.get("page"))
    chosen = {name: form.chosen(name) for name in ("status", "q", "sort")}
    query = {name: value for name, value in chosen.items() if value}
    list_url = reverse("documents:list")
    counts = _status_counts(request.user)
    return {
        "page": page,
        "pager_url": f"{list_url}?{urlencode({**query, 'page': ''})}",
        "listing_url": f"{list_url}?{urlencode({**query, 'page': page.number})}",
        "has_unfinished": any(document.status in UNFINISHED for document in page.object_list),
        "is_filtered": bool(chosen["status"] or chosen["q"]),
        "current_status": chosen["status"],
        "current_query": chosen["q"],
        "current_sort": chosen["sort"] or "newest",
        "sort_choices": SORT_CHOICES,
        "status_counts": _status_offers(counts, query),
        "retryable_count": counts.retryable,
        "index_error": outdated(),
        "max_mib": settings.ENV.max_upload_mib,
        "max_bytes": settings.ENV.max_upload_mib * 1024 * 1024,
    }


def _status_counts(owner: User) -> StatusCounts:
    rows = Document.objects.of(owner).listed().order_by().values("status")
    found = rows.annotate(
        n=Count("id"), hopeless=Count("id", filter=Q(error_code__in=HOPELESS_CODES))
    )
    counted = {row["status"]: row for row in found}
    failed = counted.get(DocumentStatus.FAILED, {"n": 0, "hopeless": 0})
    return StatusCounts(
        {status: row["n"] for status, row in counted.items()}, failed["n"] - failed["hopeless"]
    )


def _status_offers(counts: StatusCounts, query: dict[str, str]) -> list[dict[str, object]]:
    """Return what the status filter offers: label, count of documents, address, whether chosen."""
    others = {name: value for name, value in query.items() if name != "status"}
    offers = [("", _("全部"), sum(counts.by_status.values()))]
    offers += [
        (value, str(label), counts.by_status.get(value, 0)) for value, label in SHOWN_STATUSES
    ]
    return [
        {
            "label": label,
            "count": count,
            "url": f"{reverse('documents:list')}?{urlencode({**others, 'status': value})}",
            "is_current": query.get("status", "") == value,
        }
        for value, label, count in offers
    ]


def _detail_context(document: Document, page_number: str | None) -> dict[str, object]:
    chunks = document.chunks.order_by("order_index")
    return {
        "selected": document,
        "is_unfinished": document.status in UNFINISHED,
        "warning_texts": [warning_text(warning) for warning in document.warnings],
        "chunk_page": Paginator(chunks, CHUNKS_PER_PAGE).get_page(page_number),
        "chunks_url": f"{reverse('documents:chunks', args=[document.id])}?page=",
    }
