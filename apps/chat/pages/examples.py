"""Questions that an empty conversation offers, made from a person's newest documents.

Each names its document and something that the document speaks of: such a question finds its words
in the text, which the embedded model needs to answer it.
"""

from __future__ import annotations

import re
from itertools import zip_longest
from pathlib import PurePath
from typing import TYPE_CHECKING

from apps.core.text.graphemes import opening
from apps.documents.models import Chunk, Document

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from uuid import UUID

    from apps.accounts.models import User

MAX_EXAMPLES = 3
MAX_TITLE_CHARS = 40
CHUNKS_READ = 4  # of each document, from its start
HAN = re.compile("[\u3400-\u9fff]")
MAX_HAN, MAX_WORDS, MAX_CHARS = 12, 6, 60  # of a topic
GENERIC = {
    "附录", "目录", "前言", "引言", "概述", "简介", "总则", "附则", "其他", "其它", "说明", "小结",
    "总结", "结论", "背景", "摘要", "致谢", "参考文献",
    "introduction", "overview", "contents", "appendix", "references", "summary", "conclusion",
    "abstract", "background", "notes", "index", "about", "license", "foreword", "preface",
    "acknowledgements", "faq",
}  # fmt: skip
_FENCE = re.compile(r"^(```|~~~).*?(?:^\1|\Z)", re.DOTALL | re.MULTILINE)
_MARKED = re.compile(r"^(#{1,6})\s+(.+?)[\s#]*$", re.MULTILINE)
_NUMBERING = re.compile(
    r"^(?:第[一二三四五六七八九十百\d]+[章节条部分篇]+|[一二三四五六七八九十]+[、．.]"
    r"|[（(][一二三四五六七八九十\d]+[)）]|\d+(?:\.\d+)*[.、]?(?=\s|\D)|[-*•])\s*"
)
_MARKUP = re.compile(r"[*_`~]+|\[([^\]]*)\]\([^)]*\)")
_STOPS = "。！？；：，、.!?;:,|"
_SUBJECT_HAN = re.compile(
    "^([\u3400-\u9fff]{2,12}?)(?:于|是|为|在|应|须|将|由|有|，|、|：|。|\\d)"
)
_LEADER = re.compile(r"\s*(?:\.{4,}|…{2,}|(?:\. ){3,})\s*\d*$")  # of a table of contents
_NO_NOUN = (
    "on|in|at|of|is|are|was|were|and|or|for|to|with|by|from|has|have|must|will|can|may|all|any"
    "|the|an?|shall|should"
)
_SUBJECT_WORDS = re.compile(
    rf"^((?:(?:The|An?|Our|This) )?[A-Za-z][\w'’-]+(?: (?!(?:{_NO_NOUN})\b)[A-Za-z][\w'’-]+)?)\b"
)


def example_questions(user: User) -> list[str]:
    """Return at most three questions, about the documents that were indexed last."""
    newest = Document.objects.of(user).indexed().order_by("-created_at", "-id")[:MAX_EXAMPLES]
    names = dict(newest.values_list("id", "filename"))
    contents: dict[UUID, list[str]] = {}
    read = Chunk.objects.filter(document__in=list(names), order_index__lt=CHUNKS_READ)
    for document_id, content in read.order_by("order_index").values_list("document", "content"):
        contents.setdefault(document_id, []).append(content)
    offered = [_questions(name, contents.get(key, [])) for key, name in names.items()]
    in_turn = [question for row in zip_longest(*offered) for question in row if question]
    return list(dict.fromkeys(in_turn))[:MAX_EXAMPLES]


def _questions(filename: str, contents: list[str]) -> list[str]:
    """Return questions in the language of what they ask about, not of the page."""
    title = _title(filename)
    questions = [
        f"《{title}》里关于{topic}说了什么？"
        if HAN.search(topic)
        else f"What does “{title}” say about {topic}?"
        for topic in topics_of(contents, title=title)[:MAX_EXAMPLES]
    ]
    if questions:
        return questions
    is_chinese = HAN.search(title) or HAN.search("".join(contents))
    return [f"《{title}》说了什么？" if is_chinese else f"What does “{title}” say?"]


def _title(filename: str) -> str:
    return opening(PurePath(filename).stem.strip() or filename, MAX_TITLE_CHARS).rstrip()


def topics_of(contents: Iterable[str], *, title: str) -> list[str]:
    """Return what the chunks' headings name, best first; else the subject of the first sentence.

    `title` is the document's: a heading that repeats it says nothing new.
    """
    texts = [_FENCE.sub("", content) for content in contents]
    found: dict[str, None] = {}
    for text in texts:
        for heading in _headings(text):
            plain = _LEADER.sub("", _MARKUP.sub(r"\1", heading))
            topic = _NUMBERING.sub("", plain).strip()
            if _is_telling(topic) and not _is_same(topic, title):
                found.setdefault(topic)
    return list(found) or [subject for text in texts[:1] for subject in _subjects(text)]


def _headings(text: str) -> Iterator[str]:
    marked = [(len(match[1]), match[2]) for match in _MARKED.finditer(text)]
    yield from (heading for level, heading in marked if level > 1)
    yield from (heading for level, heading in marked if level == 1)
    if not marked:
        yield from _short_lines(text)


def _short_lines(text: str) -> Iterator[str]:
    """Yield the lines that stand like headings: short, after a sentence's end, before a text."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for before, line, after in zip(["", *lines], lines, lines[1:], strict=False):
        follows_end = not before or before[-1] in _STOPS or len(before) <= MAX_HAN
        if follows_end and line[-1] not in _STOPS and len(after) > len(line):
            yield line


def _subjects(text: str) -> Iterator[str]:
    for line in text.splitlines():
        match = (_SUBJECT_HAN if HAN.search(line) else _SUBJECT_WORDS).match(line.strip())
        if match and len(line) > len(match[1]) + MAX_WORDS:
            yield match[1]
            return


def _is_same(topic: str, title: str) -> bool:
    one, other = topic.casefold(), title.casefold()
    return one in other or (bool(title) and other in one)


def _is_telling(topic: str) -> bool:
    if not topic or topic.casefold() in GENERIC or len(topic) > MAX_CHARS:
        return False
    if any(mark in topic for mark in '<>|《》“”"。！？') or not re.search(r"[^\W\d_]", topic):
        return False
    if HAN.search(topic):
        return 2 <= len(topic) <= MAX_HAN
    return len(topic) > 2 and len(topic.split()) <= MAX_WORDS
