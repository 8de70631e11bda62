"""The fixed refusal, and the gate that keeps a model's refusal marker out of the stream (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.agents.prompts import blueprints

if TYPE_CHECKING:
    from apps.agents.context import UserAgentContext

_AROUND = " \t\r\n`*_\"'“”‘’「」《》[]()（）【】<>#-:：.。!！,，"


def refusal_text(question: str, user: UserAgentContext) -> str:
    """Return the refusal in the language of the question, or of the person if that is unclear."""
    return blueprints().texts.refusal.render(user.language_for(question))


class RefusalGate:
    """Holds text back while it may be the marker; white space and punctuation around it count not.

    Text that goes on after the marker is held to the end: with a citation it is an answer that
    happens to begin so, without one it is a refusal.
    """

    def __init__(self, marker: str) -> None:
        self._marker = _folded(marker)
        self._held: str | None = ""

    @property
    def is_holding(self) -> bool:
        """Whether all text so far is held."""
        return self._held is not None

    def feed(self, text: str) -> str:
        """Return what may be shown: nothing yet, or everything held and the new text."""
        if self._held is None:
            return text
        self._held += text
        start = _folded(self._held.lstrip(_AROUND))[: len(self._marker)]
        if self._marker.startswith(start):
            return ""
        return self.release()

    def release(self) -> str:
        """Return the held text and hold nothing more."""
        text, self._held = self._held or "", None
        return text

    def begins_with_marker(self, text: str) -> bool:
        """Whether `text` begins with the whole marker."""
        return _folded(text.lstrip(_AROUND)).startswith(self._marker)


class MarkerFilter:
    """Drops the marker where a model writes it in the middle of an answer that it did give."""

    def __init__(self, marker: str) -> None:
        self._marker = marker
        self._held = ""

    def feed(self, text: str) -> str:
        """Return the text without markers; an end that may become one is held back."""
        text = (self._held + text).replace(self._marker, "")
        longest = min(len(self._marker) - 1, len(text))
        held = next((n for n in range(longest, 0, -1) if self._marker.startswith(text[-n:])), 0)
        self._held = text[len(text) - held :]
        return text[: len(text) - held]

    def flush(self) -> str:
        """Return the held rest at the end of the answer."""
        text, self._held = self._held, ""
        return text


def _folded(text: str) -> str:
    return text.upper().replace(" ", "_")
