"""Raw text of a PDF page, as an engine gave it, becomes text to search and to quote."""

from __future__ import annotations

import re
import unicodedata

from apps.core.text.cleaning import clean_text
from apps.documents.reading.characters import HANZI

# Forms that stand for ordinary characters but are not found by a search for them: Latin, Armenian
# and Hebrew ligatures, Arabic shapes (not the word ligatures from U+FDF0), radicals that some
# programs write in place of hanzi, compatibility ideographs.
_FORMS = re.compile(
    "[\u2e80-\u2fd5\uf900-\ufaff\ufb00-\ufb4f\ufb50-\ufdcf\ufe70-\ufefc\U0002f800-\U0002fa1f]+"
)
# PDFium marks a hyphen at a line's end with U+0002 or U+FFFE; U+00AD is the soft hyphen.
_DROPPED_HYPHENS = re.compile("[\x02\ufffe](?:\r?\n)?|\xad\r?\n?")
_EAST = r"[\u3001-\u303f\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uff01-\uff60]"
_SPACED_EAST = re.compile(rf"(?<={_EAST})[ \u3000](?={_EAST})")
# From this share of all hanzi on, a space after each of them is letter spacing.
SPACED_SHARE = 0.5


def page_text(raw: str) -> str:
    """Return clean text: ligatures resolved, letter spacing between hanzi removed."""
    text = clean_text(_DROPPED_HYPHENS.sub("", raw))
    text = _FORMS.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    return _without_letter_spacing(text).strip()


def _without_letter_spacing(text: str) -> str:
    hanzi = len(HANZI.findall(text))
    if hanzi and len(_SPACED_EAST.findall(text)) >= SPACED_SHARE * hanzi:
        return _SPACED_EAST.sub("", text)
    return text
