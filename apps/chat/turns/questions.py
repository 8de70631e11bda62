"""What a question and a title may be (pure)."""

from __future__ import annotations

import unicodedata

from apps.chat.errors import EmptyQuestionError, QuestionTooLongError
from apps.core.text.cleaning import clean_text
from apps.core.text.graphemes import opening

TITLE_FROM_QUESTION_CHARS = 30  # as a reader counts them; requirements: "title"
_INVISIBLE = frozenset({"Cc", "Cf", "Zl", "Zp", "Zs"})  # Unicode general categories


def clean_question(text: str, *, max_chars: int) -> str:
    """Return the question without controls, lone surrogates and outer white space.

    Raises:
        EmptyQuestionError: nothing visible is left.
        QuestionTooLongError: more than `max_chars` characters are left.
    """
    question = clean_text(text).strip()
    if is_blank(question):
        raise EmptyQuestionError
    if len(question) > max_chars:
        raise QuestionTooLongError(limit=max_chars, actual=len(question))
    return question


def is_blank(text: str) -> bool:
    """Whether `text` shows nothing: white space, zero-width and format characters only."""
    return all(unicodedata.category(character) in _INVISIBLE for character in text)


def folded(text: str) -> str:
    """Return `text` cleaned, on one line, with single spaces."""
    return " ".join(clean_text(text).split())


def shown_title(title: str, first_question: str | None) -> str:
    """Return the title, with "…" when it is the cut beginning of the first question."""
    whole = folded(first_question or "")
    return f"{title}…" if title == title_of(whole) != whole else title


def title_of(question: str) -> str:
    """Return the title that a session takes from its first question."""
    return opening(folded(question), TITLE_FROM_QUESTION_CHARS).rstrip()
