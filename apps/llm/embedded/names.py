"""Names in a text by their form alone: capitalised runs, quoted titles, acronyms, Chinese 《》."""

from __future__ import annotations

import re

from apps.llm.embedded.words import folded

_SMALL = r"(?:of|the|de|la|von|van|der|da|di|du|del|al|and|&)"
_CAPITALISED = re.compile(
    rf"(?<![\w.])[A-Z][\w.'’-]*(?:\s+(?:{_SMALL}\s+){{0,2}}[A-Z0-9][\w.'’-]*)*"
)
_QUOTED = re.compile(r"[《「『“\"]([^《》「」『』“”\"]{2,40})[》」』”\"]")
_SENTENCE_START = re.compile(r"(?:^|[.!?。！？:]\s+|\n\s*|[\"“(]\s*)\Z")
_COMMON_STARTS = frozenset(
    """the a an in on at it he she they this that these those his her their its there is are was were
    what who when where which why how do does did can could i you we my your our if yes no and but
    for from with by as after before during while since also however although because to of so or
    sorry please ok okay not then some many most all both each other one two here""".split()  # noqa: SIM905
)


def names(text: str) -> list[str]:
    """Return the names of `text` in order, each once."""
    found: dict[str, None] = dict.fromkeys(m.group(1).strip() for m in _QUOTED.finditer(text))
    for match in _CAPITALISED.finditer(text):
        words = match.group().split()
        while words and words[0].lower().strip(".'’") in _COMMON_STARTS:
            words = words[1:]
        name = " ".join(words).strip(".'’")
        if len(name) > 1 and not _is_plain_start(match, words, text):
            found.setdefault(name)
    return list(found)


def new_names(text: str, *, known: str) -> list[str]:
    """Return the names of `text` whose words do not all stand in `known`."""
    held = set(re.findall(r"\w+", folded(known)))
    return [name for name in names(text) if not set(re.findall(r"\w+", folded(name))) <= held]


def _is_plain_start(match: re.Match[str], words: list[str], text: str) -> bool:
    """Whether a single capitalised word only begins a sentence."""
    if len(words) > 1 or not words or words[0].isupper() or any(c.isdigit() for c in words[0]):
        return False
    return bool(_SENTENCE_START.search(text[: match.start()]))
