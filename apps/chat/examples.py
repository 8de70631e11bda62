"""Questions that an empty conversation offers, made from the titles of a person's documents."""

from __future__ import annotations

from itertools import cycle
from pathlib import PurePath
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from apps.documents.models import Document

if TYPE_CHECKING:
    from apps.accounts.models import User

MAX_EXAMPLES = 3
MAX_TITLE_CHARS = 40


def example_questions(user: User) -> list[str]:
    """Return at most three questions, about the documents that were indexed last."""
    newest = Document.objects.of(user).indexed().order_by("-created_at", "-id")[:MAX_EXAMPLES]
    titles = [_title(name) for name in newest.values_list("filename", flat=True)]
    forms = [
        _("《{title}》主要讲了什么？"),
        _("《{title}》有哪些要点？"),
        _("《{title}》得出了什么结论？"),
    ]
    return [form.format(title=title) for form, title in zip(forms, cycle(titles), strict=False)]


def _title(filename: str) -> str:
    stem = PurePath(filename).stem.replace("_", " ").strip() or filename
    return stem if len(stem) <= MAX_TITLE_CHARS else f"{stem[:MAX_TITLE_CHARS].rstrip()}…"
