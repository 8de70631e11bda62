"""Lets an answer through to the person piece by piece, as strictly as the evidence asks (pure).

A model's refusal marker never passes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.agents.citations import CitationStream
from apps.agents.errors import InvalidCitationError, MissingCitationError
from apps.agents.events import AnswerStarted, TokenProduced
from apps.llm.errors import AnswerTruncatedError, EmptyAnswerError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from apps.agents.events import RunEvent

_AROUND = " \t\r\n`*_\"'“”‘’「」《》[]()（）【】<>#-:：.。!！,，"
LONGEST_ANSWER = 20_000  # characters; a model that writes on and on has lost the question


class AnswerStream:
    """Emits AnswerStarted and tokens. `text` is what was shown, `cited` the labels in it."""

    def __init__(
        self, labels: Collection[str], marker: str, emit: Callable[[RunEvent], None]
    ) -> None:
        self._labels = labels
        self._gate = RefusalGate(marker)
        self._markers = MarkerFilter(marker)
        self._citations = CitationStream(labels)
        self._emit = emit
        self._taken = 0
        self.text = ""

    @property
    def cited(self) -> tuple[str, ...]:
        """The labels that the text cites, in the order of their first use."""
        return tuple(self._citations.cited)

    def withdraw(self, labels: Collection[str]) -> None:
        """From here on refuse these labels too: the model does not see their passages."""
        self._labels = [label for label in self._labels if label not in labels]
        self._citations.withdraw(labels)

    def feed(self, piece: str) -> None:
        """Take a piece of the model's text.

        Raises:
            InvalidCitationError: a label that the evidence does not have is complete.
            AnswerTruncatedError: the model has written more than LONGEST_ANSWER.
        """
        self._taken += len(piece)
        if self._taken > LONGEST_ANSWER:
            raise AnswerTruncatedError
        self._show(self._citations.feed(self._markers.feed(self._gate.feed(piece))))

    def finish(self) -> bool:
        """End the answer; return False when the model found the evidence insufficient.

        Raises:
            InvalidCitationError: as `feed`.
            EmptyAnswerError: there is no text.
            MissingCitationError: there is no label.
        """
        if self._gate.is_holding:
            held = self._gate.release()
            if self._gate_refuses(held):
                return False
            self._show(self._citations.feed(self._markers.feed(held)))
        self._show(self._citations.feed(self._markers.flush()))
        self._show(self._citations.flush())
        if not self.text.strip():
            raise EmptyAnswerError
        if not self.cited:
            raise MissingCitationError
        return True

    def _gate_refuses(self, held: str) -> bool:
        probe = CitationStream(self._labels)
        probe.feed(held)
        probe.flush()
        has_label = bool(probe.cited or probe.invalid)
        return self._gate.begins_with_marker(held) and not has_label

    def _show(self, piece: str) -> None:
        if piece:
            if not self.text:
                self._emit(AnswerStarted())
            self.text += piece
            self._emit(TokenProduced(piece))
        if self._citations.invalid:
            raise InvalidCitationError


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
