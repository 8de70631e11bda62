"""Server-sent event frames and the heartbeat; knows no event of the product."""

from __future__ import annotations

import json

PING = b": ping\n\n"
HEADERS = {
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",  # nginx would hold back small frames
}


def json_frame(event: str, data: object, *, event_id: int | None = None) -> bytes:
    """Return one frame with `data` as single-line JSON (003 §11)."""
    return frame(event, json.dumps(data, ensure_ascii=False), event_id=event_id)


def frame(event: str, data: str, *, event_id: int | None = None) -> bytes:
    """Return one frame; each line of `data` becomes a `data:` line, as the standard asks."""
    lines = [] if event_id is None else [f"id: {event_id}"]
    lines.append(f"event: {event}")
    text = data.replace("\r\n", "\n").replace("\r", "\n")
    lines += [f"data: {line}" for line in text.split("\n")]
    return ("\n".join(lines) + "\n\n").encode()
