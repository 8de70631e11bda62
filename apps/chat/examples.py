"""Questions that an empty conversation offers, made from the titles of a person's documents."""

from __future__ import annotations

import re
from itertools import cycle
from pathlib import PurePath
from typing import TYPE_CHECKING

from apps.documents.models import Document

if TYPE_CHECKING:
    from apps.accounts.models import User

MAX_EXAMPLES = 3
MAX_TITLE_CHARS = 40
HAN = re.compile("[\u3400-\u9fff]")
# In the language of the title, not of the page: a document answers best in its own language.
CHINESE_FORMS = (
    "《{title}》主要讲了什么？",
    "《{title}》有哪些要点？",
    "《{title}》里提到了什么？",
)
ENGLISH_FORMS = (
    "What is “{title}” mainly about?",
    "What are the key points of “{title}”?",
    "What does “{title}” say?",
)


def example_questions(user: User) -> list[str]:
    """Return at most three questions, about the documents that were indexed last."""
    newest = Document.objects.of(user).indexed().order_by("-created_at", "-id")[:MAX_EXAMPLES]
    titles = [_title(name) for name in newest.values_list("filename", flat=True)]
    if not titles:
        return []
    return [_question(title, number) for number, title in zip(range(MAX_EXAMPLES), cycle(titles))]


def _question(title: str, number: int) -> str:
    forms = CHINESE_FORMS if HAN.search(title) else ENGLISH_FORMS
    return forms[number].format(title=title)


def _title(filename: str) -> str:
    stem = PurePath(filename).stem.replace("_", " ").strip() or filename
    return stem if len(stem) <= MAX_TITLE_CHARS else f"{stem[:MAX_TITLE_CHARS].rstrip()}…"
