"""Removes a model's thinking text from a stream, whatever way the stream is cut (pure)."""

from __future__ import annotations

import re

_OPEN = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_CLOSE = re.compile(r"</think(?:ing)?>\s*", re.IGNORECASE)
_TAGS = ("<think>", "<thinking>", "</think>", "</thinking>")


class ThinkingFilter:
    """Drops `<think>…</think>` blocks; a block that never ends is dropped to the end.

    A closing tag without an opening one is dropped, the text around it stays.
    """

    def __init__(self) -> None:
        self._held = ""
        self._inside = False
        self._trim = False  # white space after a closing tag may arrive with the next piece

    def feed(self, text: str) -> str:
        """Return what of the text so far may be shown and was not returned before."""
        self._held += text
        shown: list[str] = []
        while match := (_CLOSE if self._inside else _OPEN).search(self._held):
            if not self._inside:
                shown.append(self._trimmed(self._held[: match.start()]))
            self._held = self._held[match.end() :]
            self._trim = self._trim or self._inside
            self._inside = not self._inside
        keep = _partial_tag_length(self._held)
        ready, self._held = _split(self._held, keep)
        if not self._inside:
            shown.append(self._trimmed(ready))
        return "".join(shown)

    def flush(self) -> str:
        """Return the held rest at the end of the stream."""
        rest, self._held = self._held, ""
        return "" if self._inside else self._trimmed(rest)

    def _trimmed(self, text: str) -> str:
        without_stray = _CLOSE.sub("", text)
        if self._trim:
            without_stray = without_stray.lstrip()
            self._trim = not without_stray
        return without_stray


def _partial_tag_length(text: str) -> int:
    start = text.rfind("<")
    if start < 0:
        return 0
    tail = text[start:].lower()
    return len(tail) if any(tag.startswith(tail) for tag in _TAGS) else 0


def _split(text: str, keep: int) -> tuple[str, str]:
    cut = len(text) - keep
    return text[:cut], text[cut:]
