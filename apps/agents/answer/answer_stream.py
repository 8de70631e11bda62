"""Lets an answer through to the person piece by piece, as strictly as the evidence asks (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from apps.agents.answer.refusals import MarkerFilter, RefusalGate
from apps.agents.citations import CitationStream
from apps.agents.errors import InvalidCitationError, MissingCitationError
from apps.agents.events import AnswerStarted, TokenProduced
from apps.llm.errors import AnswerTruncatedError, EmptyAnswerError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from apps.agents.events import RunEvent

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
