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
SERVING = frozenset({"ok", "outdated", "unsearchable"})  # pages work and tell what to do


def announce_when_healthy(url: str, ended: threading.Event, say: Callable[[str], None]) -> None:
    """Print `url` once /health says that it serves; tell once when the vectors still load."""
    arguments = (url, ended, say)
    threading.Thread(target=_announce, args=arguments, name="announce", daemon=True).start()


def _announce(url: str, ended: threading.Event, say: Callable[[str], None]) -> None:
    told = False
    while not ended.wait(POLL_S):
        state = _health(url)
        if state in SERVING:
            say(f"ready at {url}")
            return
        if state == LOADING and not told:
            told = True
            say(f"serving {url}; the vectors are still loading")


def _health(url: str) -> str:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=ANSWER_TIMEOUT_S)
    try:
        connection.request("GET", "/health", headers={"Host": "localhost"})
        return str(json.loads(connection.getresponse().read()).get("status", ""))
    except (OSError, http.client.HTTPException, ValueError):
        return ""  # not listening yet
    finally:
        connection.close()
