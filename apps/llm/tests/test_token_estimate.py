import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.llm.pricing.token_estimate import estimated_prompt_tokens, estimated_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("a", 1), ("a" * 100, 30), ("年" * 100, 60), ("年假，多少天？", 5), ("🙂🙂", 2)],
)
def test_tokens_are_estimated_by_the_kinds_of_characters(text, tokens):
    assert estimated_tokens(text) == tokens


def test_prompt_counts_the_frames_of_its_messages():
    assert estimated_prompt_tokens(["a" * 10, ""]) == 3 + 4 + 4


@given(st.text(), st.text())
def test_longer_text_never_has_fewer_tokens(text, more):
    assert estimated_tokens(text) <= estimated_tokens(text + more) <= len(text + more)
