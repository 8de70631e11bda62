"""Names in a text by their form alone: capitalised runs, acronyms, what stands in quotes."""

from __future__ import annotations

import re

from apps.core.text.words import folded

_LINK = r"(?:of|the|de|la|le|von|van|der|da|di|du|del|al|and|&)"
_WORD = r"(?:[A-Z]\.|[^\W\d_a-z][\w'’-]*\w|\d+)"
_CAPITALISED = re.compile(
    rf"(?<![\w.'’-])(?:[A-Z]\.|[^\W\d_a-z][\w'’-]*\w)(?: +(?:{_LINK} +){{0,2}}{_WORD})*"
)
_LATIN = re.compile(r"[A-Z\u00c0-\u00de]")
_QUOTED = re.compile(r"[《「『“\"]([^《》「」『』“”\"]{2,40})[》」』”\"]")
_SENTENCE_START = re.compile(r"(?:^|[.!?。！？:;]\s+|\n\s*|[\"“(]\s*)\Z")
_COMMON = frozenset(
    """the a an in on at it he she they this that these those his her their its there is are was
    were what who when where which why how do does did can could i you we my your our if yes no
    and but for from with by as after before during while since also however although because to
    of so or sorry please ok okay not then some many most all both each other one two here january
    february march april may june july august september october november december""".split()  # noqa: SIM905
)
RELATION_STEM = 5  # letters that "director" and "directed", "composer" and "composed" share
RELATION_REACH = 40


def names(text: str) -> list[str]:
    """Return the names of `text` in order, each once."""
    return list(dict.fromkeys(name for name, _ in _located(text)))


def new_names(text: str, *, known: str) -> list[str]:
    """Return the names of `text` whose words do not all stand in `known`."""
    held = _words(known)
    return [name for name in names(text) if not _words(name) <= held]


def related_names(text: str, question: str) -> list[str]:
    """Return the new names of `text`, those first that the question's relation leads to.

    "Who is the director's mother?" asks on for the name that stands after "directed by". Names of
    several words come before single ones, which are often a nationality.
    """
    held = _words(question)
    plain = re.findall(rf"\b[a-z]{{{RELATION_STEM},}}", question)  # not the words of its names
    relations = {word[:RELATION_STEM] for word in plain}
    found: dict[str, tuple[int, int]] = {}
    for name, start in _located(text):
        if _words(name) <= held:
            continue
        before = re.findall(r"[a-z]+", folded(text[max(0, start - RELATION_REACH) : start]))
        is_led_to = any(word[:RELATION_STEM] in relations for word in before)
        found.setdefault(name, (-int(is_led_to), -int(" " in name)))
    return sorted(found, key=lambda name: found[name])


def _located(text: str) -> list[tuple[str, int]]:
    """Return each name with the place where it begins."""
    found = [(m.group(1).strip(), m.start()) for m in _QUOTED.finditer(text)]
    for match in _CAPITALISED.finditer(text):
        words = match.group().split()
        while words and words[0].lower() in _COMMON:
            words = words[1:]
        name = " ".join(words)
        if len(name) > 1 and _LATIN.match(name) and not _is_plain_start(match, words, text):
            found.append((name, match.end() - len(name)))
    return sorted(found, key=lambda item: item[1])


def _is_plain_start(match: re.Match[str], words: list[str], text: str) -> bool:
    """Whether a single capitalised word only begins a sentence."""
    if len(words) > 1 or words[0].isupper() or any(c.isdigit() for c in words[0]):
        return False
    return words[0] == match.group() and bool(_SENTENCE_START.search(text[: match.start()]))


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", folded(text)))
