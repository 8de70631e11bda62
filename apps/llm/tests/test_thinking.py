"""Thinking text never passes, whatever way the stream is cut."""

from __future__ import annotations

import pytest

from apps.llm.endpoints.thinking import ThinkingFilter


def shown(pieces: list[str]) -> str:
    thinking = ThinkingFilter()
    return "".join(thinking.feed(piece) for piece in pieces) + thinking.flush()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<think>秘密</think>十五天", "十五天"),
        ("<think>\n秘密\n</think>\n\n十五天", "十五天"),
        ("<THINKING>a < b</THINKING> x", "x"),
        ("前<think>a</think>后", "前后"),
        ("<think>a</think><think>b</think>后", "后"),
        ("<think>never closed", ""),
        ("stray</think> tag", "straytag"),
        ("a < b <thin air", "a < b <thin air"),
        ("ends with <think", "ends with <think"),
        ("第一行\n\n第二行", "第一行\n\n第二行"),
    ],
)
def test_thinking_is_dropped_and_the_rest_kept(text: str, expected: str) -> None:
    assert shown([text]) == expected
    for size in range(1, 9):
        pieces = [text[i : i + size] for i in range(0, len(text), size)]
        assert shown(pieces) == expected, size
