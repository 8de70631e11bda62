"""The documents part of the JSON API (003 §12.1).

Every queryset starts from the caller's own documents: another person's document is not found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast
from uuid import UUID  # noqa: TC003 - Ninja reads annotations

from django.conf import settings
from django.http import FileResponse, HttpRequest
from ninja import File, Query, Router, Status
from ninja.files import UploadedFile  # noqa: TC002 - Ninja reads annotations
from pydantic import StringConstraints

from apps.core.errors import ValidationFailedError
from apps.documents.errors import DocumentNotFoundError, OriginalMissingError
from apps.documents.indexing.deletion import delete_document
from apps.documents.models import Document, DocumentStatus
from apps.documents.search import search_passages
from apps.documents.uploads.accept import accept_upload, retry_document, retry_failed_documents
from apps.documents.web.api_schemas import (
    ChunkOut,
    ChunkPage,
    DocumentOut,
    DocumentPage,
    HitList,
    HitOut,
    RetriedOut,
)

if TYPE_CHECKING:
    from apps.accounts.models import User

router = Router(tags=["documents"])

DEFAULT_LIMIT = 20
Limit = Annotated[int, Query(ge=1, le=100)]
Offset = Annotated[int, Query(ge=0, le=10_000_000)]
QueryText = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=1, max_length=settings.ENV.max_question_chars
    ),
]


@router.post("/documents", response={202: DocumentOut})
def upload_document(request: HttpRequest, file: File[UploadedFile]) -> Status[DocumentOut]:
    """Accept a file; it is indexed in the background. Several at once are refused."""
    if len(request.FILES.getlist("file")) > 1:  # Ninja would take one and drop the others
        raise ValidationFailedError(detail="file: one in each request")
    return Status(202, DocumentOut.of(accept_upload(_caller(request), file)))


@router.get("/documents", response=DocumentPage)
def list_documents(
    request: HttpRequest,
    limit: Limit = DEFAULT_LIMIT,
    offset: Offset = 0,
    status: DocumentStatus | None = None,
) -> DocumentPage:
    """Return the caller's documents, newest first."""
    documents = Document.objects.of(_caller(request))
    if status is not None:
        documents = documents.filter(status=status)
    page = documents[offset : offset + limit]
    return DocumentPage(items=[DocumentOut.of(item) for item in page], count=documents.count())


@router.post("/documents/retry", response={202: RetriedOut})
def retry_failed(request: HttpRequest) -> Status[RetriedOut]:
    """Index all failed documents again, except those whose file is itself at fault."""
    return Status(202, RetriedOut(queued=retry_failed_documents(_caller(request))))


@router.get("/documents/{document_id}", response=DocumentOut)
def get_document(request: HttpRequest, document_id: UUID) -> DocumentOut:
    """Return one document."""
    return DocumentOut.of(_own_document(request, document_id))


@router.get("/documents/{document_id}/chunks", response=ChunkPage)
def list_chunks(
    request: HttpRequest, document_id: UUID, limit: Limit = DEFAULT_LIMIT, offset: Offset = 0
) -> ChunkPage:
    """Return the chunks of a document in reading order."""
    chunks = _own_document(request, document_id).chunks.order_by("order_index")
    page = chunks[offset : offset + limit]
    return ChunkPage(items=[ChunkOut.of(chunk) for chunk in page], count=chunks.count())


@router.post("/documents/{document_id}/retry", response={202: DocumentOut})
def retry(request: HttpRequest, document_id: UUID) -> Status[DocumentOut]:
    """Index a failed document again; 409 for any other."""
    document = _own_document(request, document_id)
    retry_document(document)
    return Status(202, DocumentOut.of(document))


@router.delete("/documents/{document_id}", response={204: None})
def delete(request: HttpRequest, document_id: UUID) -> Status[None]:
    """Delete a document with its vectors and its file; 503 when it could only be begun."""
    delete_document(_own_document(request, document_id))
    return Status(204, None)


@router.api_operation(["GET", "HEAD"], "/documents/{document_id}/file", response={200: bytes})
def download_file(request: HttpRequest, document_id: UUID) -> FileResponse:
    """Return the original as an attachment, never to be rendered or sniffed."""
    document = _own_document(request, document_id)
    try:
        original = document.stored_path.open("rb")
    except FileNotFoundError as error:
        raise OriginalMissingError from error
    response = FileResponse(
        original,
        as_attachment=True,
        filename=document.filename,
        content_type="application/octet-stream",
    )
    response["Cache-Control"] = "private, no-cache"
    response["X-Content-Type-Options"] = "nosniff"
    return response


@router.get("/search", response=HitList)
def search(
    request: HttpRequest, query: QueryText, limit: Limit = settings.ENV.retrieval_top_k
) -> HitList:
    """Return the passages of the caller's indexed documents that are nearest to the query."""
    passages = search_passages(query, owner=_caller(request), limit=limit)
    return HitList(items=[HitOut.of(passage) for passage in passages])


def _caller(request: HttpRequest) -> User:
    return cast("User", request.user)


def _own_document(request: HttpRequest, document_id: UUID) -> Document:
    try:
        return Document.objects.of(_caller(request)).get(pk=document_id)
    except Document.DoesNotExist as error:
        raise DocumentNotFoundError from error
