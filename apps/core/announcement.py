"""Tells the person at the terminal when the server can be used, by asking its own /health."""

from __future__ import annotations

import http.client
import json
import threading
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable

POLL_S = 0.1
ANSWER_TIMEOUT_S = 10
LOADING = "loading"


def announce_when_healthy(url: str, ended: threading.Event, say: Callable[[str], None]) -> None:
    """Print `url` once its /health answers 200; tell once when the vectors are still loading."""
    arguments = (url, ended, say)
    threading.Thread(target=_announce, args=arguments, name="announce", daemon=True).start()


def _announce(url: str, ended: threading.Event, say: Callable[[str], None]) -> None:
    told = False
    while not ended.wait(POLL_S):
        status, state = _health(url)
        if status == http.HTTPStatus.OK:
            say(f"ready at {url}")
            return
        if state == LOADING and not told:
            told = True
            say(f"serving {url}; the vectors are still loading")


def _health(url: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=ANSWER_TIMEOUT_S)
    try:
        connection.request("GET", "/health", headers={"Host": "localhost"})
        response = connection.getresponse()
        return response.status, str(json.loads(response.read()).get("status", ""))
    except (OSError, http.client.HTTPException, ValueError):
        return 0, ""  # not listening yet
    finally:
        connection.close()
