"""What views share: the typed request of a page, a page or its fragment, a form's address."""

from __future__ import annotations

from functools import wraps
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, cast

from django.http import HttpRequest
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_http_methods

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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


def form_of[V: Callable[..., Any]](page: str, *keys: str) -> Callable[[V], V]:
    """Let a view answer POST only, and lead who opens its address to the form's page.

    `page` is the name of the page's address, `keys` are the parts that both addresses have.
    """

    def decorate(view: V) -> V:
        def lead(request: HttpRequest, kwargs: Mapping[str, object]) -> HttpResponse | None:
            if request.method == "POST":
                return None
            return redirect(reverse(page, kwargs={key: kwargs[key] for key in keys}))

        @wraps(view)
        def answer(request: HttpRequest, **kwargs: object) -> Any:
            return lead(request, kwargs) or view(request, **kwargs)

        @wraps(view)
        async def answer_async(request: HttpRequest, **kwargs: object) -> Any:
            return lead(request, kwargs) or await view(request, **kwargs)

        chosen = answer_async if iscoroutinefunction(view) else answer
        return require_http_methods(["GET", "HEAD", "POST"])(cast("V", chosen))

    return decorate
