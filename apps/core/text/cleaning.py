"""Text that is safe for SQLite, JSON, the embedding engine and a page. Nothing else is changed."""

from __future__ import annotations

import re

# C0 and C1 controls except tab and line feed, DEL, lone surrogates, U+FEFF and noncharacters.
_UNSAFE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufeff\ufffe\uffff]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
# CR, vertical tab, form feed, next line, line and paragraph separator end a line like LF does.
_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")


def clean_text(text: str) -> str:
    """Return `text` with LF line ends and without controls, surrogates and byte order marks.

    Surrogate pairs that stand for one character are joined; lone ones are dropped.
    """
    if _SURROGATE.search(text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "ignore")
    return _UNSAFE.sub("", _LINE_ENDS.sub("\n", text))
