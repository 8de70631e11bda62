"""How a PDF's text is shown: the lines of a sentence joined. What is stored stays as it is."""

from __future__ import annotations

import re

# A line's end inside a sentence: no stop before it, no blank line, list item or row after it.
_LINE_END = re.compile(r"(?<![\n。！？：；.!?:;|])\n(?![\n\s•·\-*#>|【（(]|\d+[.)、）]|$)")
_WIDE = re.compile("[\u2e80-\u9fff\uac00-\ud7a3\uff00-\uffef]")
MIN_WRAPPED_WIDTH = 40  # a wide character counts 2; a shorter line is a heading, a row or an item


def reflowed(text: str) -> str:
    """Return the text with line ends inside sentences as spaces, in Chinese as nothing."""

    def join(match: re.Match[str]) -> str:
        if (
            _width(text[text.rfind("\n", 0, match.start()) + 1 : match.start()])
            < MIN_WRAPPED_WIDTH
        ):
            return "\n"
        before, after = (
            text[match.start() - 1 : match.start()],
            text[match.end() : match.end() + 1],
        )
        return "" if before == "-" or _WIDE.match(before) or _WIDE.match(after) else " "

    return _LINE_END.sub(join, text)


def _width(line: str) -> int:
    return len(line) + len(_WIDE.findall(line))
