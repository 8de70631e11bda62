"""Which sentence of a passage supports a claim."""

from __future__ import annotations

import pytest

from apps.chat.pages.marking import Piece, claims_by_label, marked_pieces


@pytest.mark.parametrize(
    ("answer", "claims"),
    [
        ("", {}),
        ("没有标签。", {}),
        ("年假十五天。[S1] 另见手册。[S2]", {"S1": ["年假十五天。"], "S2": ["另见手册。"]}),
        ("前一句。后一句[S1][S3]。", {"S1": ["后一句"], "S3": ["后一句"]}),
        ("It costs 3.5 euros. [S1]", {"S1": ["It costs 3.5 euros."]}),
        ("[S1]", {"S1": []}),
        ("甲[S1]。乙[S1]。", {"S1": ["甲", "乙"]}),
    ],
)
def test_claims_are_the_sentences_before_the_labels(answer, claims):
    assert claims_by_label(answer) == claims


@pytest.mark.parametrize(
    ("passage", "claims", "marked"),
    [
        (
            "总则。年假为十五天，当年休完。报销另行规定。",
            ["年假为十五天"],
            ["年假为十五天，当年休完。"],
        ),
        (
            "The kettle is red. The warranty is 24 months.",
            ["The warranty is 24 months"],
            ["The warranty is 24 months."],
        ),
        ("完全无关的内容。", ["年假为十五天"], []),
        ("甲乙丙丁。戊己庚辛。", [], []),
        ("", ["年假"], []),
        (
            "不得使用\nExecutors 创建\n线程池。另行",
            ["不得使用 Executors 创建线程池"],
            ["不得使用\nExecutors 创建\n线程池。"],
        ),
        ("规则\n1）甲乙丙丁\n2）戊己庚辛", ["戊己庚辛"], ["2）戊己庚辛"]),
        (
            "The de\u00adposit is 30 euros. Else.",
            ["deposit is 30"],
            ["The de\u00adposit is 30 euros."],
        ),
    ],
)
def test_supporting_sentence_is_marked(passage, claims, marked):
    pieces = marked_pieces(passage, claims)
    assert "".join(piece.text for piece in pieces) == passage
    assert [piece.text.strip() for piece in pieces if piece.is_marked] == marked


def test_pieces_keep_what_lies_between_sentences():
    assert marked_pieces("\n\n一二三四。", ["一二三四"]) == [
        Piece("\n\n", is_marked=False),
        Piece("一二三四。", is_marked=True),
    ]


def test_long_white_space_costs_little_time():
    text = "字" + " " * 50_000 + "\n" * 50_000 + "[S1]"
    assert claims_by_label(text) == {"S1": ["字"]}
    assert marked_pieces(text, []) == [Piece(text, is_marked=False)]
