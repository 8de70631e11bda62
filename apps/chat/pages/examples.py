"""Questions that an empty conversation offers, made from a person's newest documents.

Each names its document and something that the document speaks of: such a question finds its words
in the text, which the embedded model needs to answer it.
"""

from __future__ import annotations

from itertools import zip_longest
from pathlib import PurePath
from typing import TYPE_CHECKING

from apps.chat.pages.topics import HAN, topics_of
from apps.documents.models import Chunk, Document

if TYPE_CHECKING:
    from uuid import UUID

    from apps.accounts.models import User

MAX_EXAMPLES = 3
MAX_TITLE_CHARS = 40
CHUNKS_READ = 4  # of each document, from its start


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
    stem = PurePath(filename).stem.strip() or filename
    return stem if len(stem) <= MAX_TITLE_CHARS else stem[:MAX_TITLE_CHARS].rstrip()
