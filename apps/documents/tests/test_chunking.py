"""Chunks: never over the limit, literal spans of their page, nothing visible left out."""

from __future__ import annotations

from itertools import pairwise
from uuid import UUID

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_text_splitters import RecursiveCharacterTextSplitter

from apps.documents.indexing.chunking import (
    SEPARATORS,
    ChunkDraft,
    chunk_id,
    embedding_text,
    split_pages,
)
from apps.documents.reading.pages import Heading, PageText

DOCUMENT_ID = UUID(int=1)
ALPHABET = [
    *"ab年假。！，、 .;\n\t", ". ", "\n\n", "e\u0301", " \u0301", "。\ufe00", "🇨🇳",
    "👩\u200d👧", "각", "के", "👍🏽", "\u200d", "\u3000",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(ALPHABET), max_size=120).map("".join) | st.text(max_size=200)
SIZES = st.tuples(st.integers(8, 40), st.integers(0, 7))


def split(text: str, size: int = 500, overlap: int = 50) -> list[ChunkDraft]:
    return split_pages([PageText(None, text)], chunk_size=size, chunk_overlap=overlap)


@given(text=TEXTS, sizes=SIZES)
@settings(deadline=None, max_examples=300, derandomize=True)
def test_every_chunk_is_a_span_within_the_limit_and_all_is_covered(
    text: str, sizes: tuple[int, int]
) -> None:
    drafts = split(text, *sizes)
    assert all(len(draft.content) <= sizes[0] for draft in drafts)
    assert all(draft.content == text[draft.start_char : draft.end_char] for draft in drafts)
    assert all(draft.content.strip() for draft in drafts)
    assert [draft.order_index for draft in drafts] == list(range(len(drafts)))
    covered = {i for draft in drafts for i in range(draft.start_char, draft.end_char)}
    assert [text[i] for i in range(len(text)) if i not in covered and not text[i].isspace()] == []
    assert all(a.start_char < b.start_char for a, b in pairwise(drafts))


@given(text=TEXTS, sizes=SIZES)
@settings(deadline=None, max_examples=300, derandomize=True)
def test_graphemes_stay_whole_unless_one_is_over_the_limit(
    text: str, sizes: tuple[int, int]
) -> None:
    graphemes = [match.span() for match in regex.finditer(r"\X", text)]
    if any(end - start > sizes[0] for start, end in graphemes):
        return
    borders = {0, *(end for _start, end in graphemes)}
    for draft in split(text, *sizes):
        assert draft.start_char in borders
        assert draft.end_char in borders


@given(text=st.text(alphabet="年假规定。，ab .\n", max_size=400), sizes=SIZES)
@settings(deadline=None, max_examples=200, derandomize=True)
def test_borders_are_those_of_the_recursive_splitter(text: str, sizes: tuple[int, int]) -> None:
    plain = RecursiveCharacterTextSplitter(
        separators=SEPARATORS, keep_separator="end", chunk_size=sizes[0], chunk_overlap=sizes[1]
    )
    pieces = plain.split_text(text)
    if all(len(piece) <= sizes[0] for piece in pieces):
        assert [draft.content for draft in split(text, *sizes)] == pieces


def test_repetitive_text_is_covered_to_its_end() -> None:
    text = "key: value\n" * 200
    drafts = split(text, 100, 50)
    assert drafts[-1].end_char == len(text) - 1
    assert all(b.start_char <= a.end_char + 1 for a, b in pairwise(drafts))


def test_chinese_chunks_end_at_sentences() -> None:
    text = "员工每年享有十五天带薪年假。需提前三个工作日申请。逾期不予受理。"
    assert [draft.content for draft in split(text, 26, 0)] == [
        "员工每年享有十五天带薪年假。需提前三个工作日申请。",
        "逾期不予受理。",
    ]


def test_line_without_any_border_is_cut_at_the_limit() -> None:
    text = "甲乙丙丁戊己庚辛壬癸abc123" * 5000
    drafts = split(text)
    assert [len(draft.content) for draft in drafts] == [500] * 160
    assert "".join(draft.content for draft in drafts) == text


@pytest.mark.parametrize("grapheme", ["🇨🇳", "👨\u200d👩\u200d👧\u200d👦", "e\u0301", "👍🏽"])
def test_row_of_graphemes_is_cut_between_them(grapheme: str) -> None:
    text = grapheme * 400
    drafts = split(text, 100, 10)
    assert "".join(draft.content for draft in drafts) == text
    assert all(len(draft.content) % len(grapheme) == 0 for draft in drafts)


def test_grapheme_over_the_limit_is_cut() -> None:
    text = "e" + "\u0301" * 1000
    assert [len(draft.content) for draft in split(text)] == [500, 500, 1]


@pytest.mark.parametrize("text", ["", " ", "\n" * 2000, "\t" * 2000, "\u3000 \n"])
def test_blank_text_has_no_chunks(text: str) -> None:
    assert split(text) == []


def test_pages_are_never_mixed() -> None:
    pages = [PageText(1, "first"), PageText(2, ""), PageText(3, "third")]
    assert split_pages(pages, chunk_size=500, chunk_overlap=50) == [
        ChunkDraft(0, "first", 1, 0, 5, ""),
        ChunkDraft(1, "third", 3, 0, 5, ""),
    ]


def test_heading_path_is_that_of_the_chunks_first_character() -> None:
    text = "# A\n\none two\n\n## B\n\nthree four\n\n# C\n\nfive"
    headings = tuple(
        Heading(text.index(mark), level, mark[-1])
        for mark, level in [("# A", 1), ("## B", 2), ("# C", 1)]
    )
    drafts = split_pages([PageText(None, text, headings)], chunk_size=14, chunk_overlap=0)
    assert [(draft.content, draft.heading_path) for draft in drafts] == [
        ("# A\n\none two", "A"),
        ("## B", "A > B"),
        ("three four", "A > B"),
        ("# C\n\nfive", "C"),
    ]


def test_long_heading_path_keeps_the_nearest_titles() -> None:
    headings = tuple(Heading(0, level, f"{level}" * 90) for level in (1, 2, 3))
    (draft,) = split_pages([PageText(None, "text", headings)], chunk_size=50, chunk_overlap=0)
    assert draft.heading_path == "2" * 90 + " > " + "3" * 90


def test_same_text_twice_has_two_ids_and_the_same_ids_again() -> None:
    pages = [PageText(1, "same"), PageText(2, "same")]
    first, second = (
        [
            chunk_id(DOCUMENT_ID, draft)
            for draft in split_pages(pages, chunk_size=50, chunk_overlap=0)
        ]
        for _run in range(2)
    )
    assert first == second
    assert len(set(first)) == 2


def test_embedded_text_is_led_by_the_headings_it_does_not_show() -> None:
    assert embedding_text("", "text") == "text"
    assert embedding_text("A > B", "text") == "A > B\ntext"
    assert embedding_text("A > B", "## B\ntext") == "## B\ntext"
