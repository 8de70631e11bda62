"""Makes daphne leave request bodies to Django; imported by the web process only.

Twisted parses a posted form by itself before the application sees the request: in the event loop,
so that every stream stands still meanwhile, with several copies of each file in memory, and with
an empty answer to a form it cannot read. Nothing here looks into a body.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from daphne import http_protocol

if TYPE_CHECKING:
    from twisted.web.http import HTTPChannel


class UnparsedRequest(http_protocol.WebRequest):  # type: ignore[misc]
    """A request whose form is not parsed, and whose length is known to Django even if chunked."""

    def __init__(self, channel: HTTPChannel, *args: Any, **kwargs: Any) -> None:
        super().__init__(channel, *args, **{**kwargs, "parsePOSTFormSubmission": False})

    def requestReceived(self, command: bytes, path: bytes, version: bytes) -> None:  # noqa: N802
        """Name the length of a body that came in chunks, since Django reads none without it."""
        length = self.content.tell()
        if length and not self.requestHeaders.hasHeader(b"Content-Length"):
            self.requestHeaders.setRawHeaders(b"Content-Length", [b"%d" % length])
        super().requestReceived(command, path, version)


def leave_bodies_to_django() -> None:
    """Use these requests from now on; daphne has no setting for it."""
    http_protocol.WebRequest = UnparsedRequest
