"""What views share: the typed request of a page, and answering with a page or its fragment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpRequest
from django.shortcuts import render
from django.utils.cache import patch_vary_headers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.http import HttpResponse
    from django_htmx.middleware import HtmxDetails


class PageRequest(HttpRequest):
    """A request that passed HtmxMiddleware."""

    htmx: HtmxDetails


def render_page(
    request: PageRequest,
    template: str,
    context: Mapping[str, object] | None = None,
    *,
    fragment: str,
    status: int = 200,
) -> HttpResponse:
    """Return the whole page, or to an htmx request only the fragment `template#fragment`.

    The answer varies by the header that tells the two apart, so that no cache (the browser's for
    the back button included) shows a fragment as a page.
    """
    name = f"{template}#{fragment}" if request.htmx else template
    response = render(request, name, context, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response
