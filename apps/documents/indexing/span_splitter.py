"""RecursiveCharacterTextSplitter that tells where each chunk lies in the text.

Looking a chunk up in the text afterwards finds the wrong place in repetitive texts. Here the
places come from the splitting itself; the borders are those of the original, except that none
parts a separator from a mark that combines with it.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import TYPE_CHECKING

from langchain_text_splitters import RecursiveCharacterTextSplitter

from apps.core.text.graphemes import border_before

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    Span = tuple[int, int]

_LINE_END = "\n"


class SpanSplitter(RecursiveCharacterTextSplitter):
    """Splits at `separators`, first ones first; sizes are in characters."""

    def __init__(self, separators: Sequence[str], *, chunk_size: int, chunk_overlap: int) -> None:
        super().__init__(
            separators=[_pattern(separator) for separator in separators],
            is_separator_regex=True,
            keep_separator="end",
            chunk_size=chunk_size,
            chunk_overlap=chunk_overlap,
        )

    def spans(self, text: str) -> Iterator[Span]:
        """Yield the spans of the chunks in order, without white space around them.

        None is longer than the chunk size, and together they hold every visible character.
        """
        offset = 0
        for run in self.split_text(text):
            if isinstance(run, _Run):
                spans: Iterable[Span] = ((offset + a, offset + b) for a, b in run.spans)
            else:  # no separator in it, and too long
                spans = _cut(text, (offset, offset + len(run)), self._chunk_size)
            for span in spans:
                start, end = _stripped(text, span)
                if start < end:
                    yield start, end
            offset += len(run)

    def _merge_splits(self, splits: Iterable[str], separator: str) -> list[str]:
        """Return the joined units as one run that knows its chunks' spans."""
        units = list(splits)
        spans: list[Span] = []
        start = end = first = 0
        for unit in units:
            size = len(unit)
            if end - start + size > self._chunk_size:
                spans.append((start, end))
                while end - start > self._chunk_overlap or (
                    end - start + size > self._chunk_size and end > start
                ):
                    start += len(units[first])
                    first += 1
            end += size
        spans.append((start, end))
        return [_Run(separator.join(units), spans)]


class _Run(str):
    """A stretch of text, with the spans of its chunks in it."""

    spans: list[Span]

    def __new__(cls, text: str, spans: list[Span]) -> _Run:
        run = super().__new__(cls, text)
        run.spans = spans
        return run


def _cut(text: str, span: Span, limit: int) -> Iterator[Span]:
    """Yield spans of at most `limit` characters that end between graphemes where possible."""
    start, stop = span
    while stop - start > limit:
        border = border_before(text, start + limit, start=start)
        yield start, border
        start = border
    yield start, stop


def _stripped(text: str, span: Span) -> Span:
    """Return the span without white space at its ends; a mark keeps the space that bears it."""
    start, end = span
    chunk = text[start:end]
    visible_start = end - len(chunk.lstrip())
    visible_end = start + len(chunk.rstrip())
    if start < visible_start < end and re.match(_joining(), text[visible_start]):
        visible_start -= 1
    return visible_start, visible_end


def _pattern(separator: str) -> str:
    """Return a pattern for a separator that no joining character follows."""
    escaped = re.escape(separator)
    return escaped if separator.endswith(_LINE_END) else f"{escaped}(?!{_joining()})"


@cache
def _joining() -> str:
    """Return a character class of all that joins the grapheme before it (UAX 29: Extend, ZWJ)."""
    planes = (*range(0x300, 0x20000), *range(0xE0000, 0xE01F0))
    return "[" + "".join(chr(code) for code in planes if _joins(chr(code))) + "]"


def _joins(char: str) -> bool:
    return (
        unicodedata.category(char) in {"Mn", "Me", "Mc"}
        or char in "\u200c\u200d\uff9e\uff9f"
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or "\U000e0020" <= char <= "\U000e007f"
    )
