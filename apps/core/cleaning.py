"""Text that is safe for SQLite, JSON, the embedding engine and a page. Nothing else is changed."""

from __future__ import annotations

import re

# C0 controls except tab and line feed, DEL, lone surrogates, and U+FEFF inside text.
_UNSAFE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufeff]")


def clean_text(text: str) -> str:
    """Return `text` with LF line ends and without controls, surrogates and byte order marks.

    Surrogate pairs that stand for one character are joined; lone ones are dropped.
    """
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "ignore")
    return _UNSAFE.sub("", joined.replace("\r\n", "\n").replace("\r", "\n"))
