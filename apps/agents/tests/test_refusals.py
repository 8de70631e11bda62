"""A model's way to refuse is held back; other texts pass."""

from __future__ import annotations

from uuid import UUID

import pytest

from apps.agents.answer.answer_stream import LONGEST_ANSWER, AnswerStream
from apps.agents.answer.stage import refusal_text
from apps.agents.context import UserAgentContext
from apps.agents.errors import InvalidCitationError, MissingCitationError
from apps.agents.events import AnswerStarted, RunEvent, TokenProduced
from apps.llm.errors import AnswerTruncatedError, EmptyAnswerError

MARKER = "INSUFFICIENT_EVIDENCE"
ZH = "资料中没有找到能够回答这个问题的内容。可以换一种问法，或先上传包含相关内容的文档。"
EN = (
    "The documents do not contain enough information to answer this question. Try to ask it in "
    "other words, or upload a document that covers it."
)


def stream(pieces: list[str]) -> tuple[bool, list[RunEvent]]:
    events: list[RunEvent] = []
    answer = AnswerStream(["S1", "S2"], MARKER, events.append)
    for piece in pieces:
        answer.feed(piece)
    return answer.finish(), events


@pytest.mark.parametrize(
    "text",
    [
        MARKER,
        f"\n  {MARKER}。\n",
        f"`{MARKER}`",
        f"**{MARKER}**",
        f"「{MARKER}」",
        "insufficient evidence.",
        f"```\n{MARKER}\n```",
        f"{MARKER}\n资料里没有提到。",
    ],
)
def test_marker_is_a_refusal_and_is_never_shown(text: str) -> None:
    assert stream(list(text)) == (False, [])
    assert stream([text]) == (False, [])


def test_answer_that_begins_like_the_marker_is_shown() -> None:
    text = "Insufficient sleep harms memory [S1]."
    is_answer, events = stream(list(text))
    assert is_answer
    assert events[0] == AnswerStarted()
    assert "".join(e.text for e in events if isinstance(e, TokenProduced)) == text


def test_answer_about_the_marker_with_a_citation_is_shown() -> None:
    shown = shown_of(f"{MARKER} 是一个常量名[S2]。")
    assert shown == " 是一个常量名[S2]。"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"压力是 42 巴[S1]。{MARKER}", "压力是 42 巴[S1]。"),
        (f"压力是 42 巴[S1]。\n{MARKER}\n其余不详。", "压力是 42 巴[S1]。\n\n其余不详。"),
        (f"是 42 巴[S{MARKER}1]。", "是 42 巴[S1]。"),
        ("ISO IN INS 之外是 I[S1]I", "ISO IN INS 之外是 I[S1]I"),
    ],
)
def test_marker_in_the_middle_of_an_answer_is_dropped(text: str, shown: str) -> None:
    assert shown_of(text) == shown


def shown_of(text: str) -> str:
    is_answer, events = stream(list(text))
    assert is_answer
    assert stream([text])[0]
    return "".join(event.text for event in events if isinstance(event, TokenProduced))


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", EmptyAnswerError),
        (" \n", EmptyAnswerError),
        ("十五天。", MissingCitationError),
        ("十五天[S1", MissingCitationError),
        ("INSUFF", MissingCitationError),
        ("十五天[S3]。", InvalidCitationError),
        (f"{MARKER}[S9]", InvalidCitationError),
        (f"十五天[S1]。[S{MARKER}9]", InvalidCitationError),
        ("十五天[S1]，见&#91;S9&#93;。", InvalidCitationError),
        (f"{MARKER}。见[**S9**]", InvalidCitationError),
    ],
)
def test_answer_that_breaks_a_rule_fails(text: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        stream(list(text))


@pytest.mark.parametrize("piece", ["十五天[S1]。", f"{MARKER}\n", "`x", "[S1-"])
def test_endless_answer_is_cut(piece: str) -> None:
    with pytest.raises(AnswerTruncatedError):
        stream([piece] * (LONGEST_ANSWER // len(piece) + 1))


@pytest.mark.parametrize(
    ("question", "language", "text"),
    [
        ("年假多少天？", "en-US", ZH),
        ("How many days?", "zh-CN", EN),
        ("2024?", "zh-CN", ZH),
        ("2024?", "de", EN),
    ],
)
def test_refusal_speaks_the_language_of_the_question(
    question: str, language: str, text: str
) -> None:
    assert refusal_text(question, UserAgentContext(UUID(int=1), "u", language)) == text
