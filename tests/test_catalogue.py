"""The English catalogue holds every text that the code and the templates mark."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

ROOT = Path(__file__).resolve().parent.parent
CATALOGUE = ROOT / "locale" / "en" / "LC_MESSAGES" / "django.po"
MARKERS = {"_": 1, "gettext": 1, "gettext_lazy": 1, "ngettext": 2, "ngettext_lazy": 2}
TRANSLATE = re.compile(r'{%\s*translate\s+"([^"]+)"|_\("([^"]+)"\)')
BLOCK = re.compile(r"{%\s*blocktranslate.*?%}(.*?){%\s*endblocktranslate\s*%}", re.DOTALL)
PLURAL = re.compile(r"{%\s*plural\s*%}")
VARIABLE = re.compile(r"{{\s*(\w+)\s*}}")
PLACE = re.compile(r"%\(\w+\)s|{\w+}")


@pytest.fixture(scope="module")
def catalogue():
    with CATALOGUE.open("rb") as file:
        return read_po(file)


def in_code():
    for path in sorted([*(ROOT / "apps").rglob("*.py"), *(ROOT / "kbqa_project").rglob("*.py")]):
        if "tests" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            name = getattr(getattr(node, "func", None), "id", None)
            if isinstance(node, ast.Call) and name in MARKERS:
                for argument in node.args[: MARKERS[name]]:
                    if isinstance(argument, ast.Constant):
                        yield argument.value


def in_templates():
    for path in sorted((ROOT / "templates").rglob("*.html")):
        source = path.read_text()
        for match in TRANSLATE.finditer(source):
            yield match[1] or match[2]
        for match in BLOCK.finditer(source):
            for text in PLURAL.split(match[1]):
                yield VARIABLE.sub(r"%(\1)s", text)


def forms(value):
    return (value,) if isinstance(value, str) else tuple(value)


def test_every_marked_text_is_in_the_catalogue(catalogue):
    known = {form for message in catalogue for form in forms(message.id)}
    assert sorted({*in_code(), *in_templates()} - known) == []


def test_every_text_is_translated_with_the_same_places(catalogue):
    for message in catalogue:
        if not message.id:
            continue
        assert not message.fuzzy, message.id
        for source, translation in zip(forms(message.id), forms(message.string), strict=True):
            assert translation, source
            assert set(PLACE.findall(source)) == set(PLACE.findall(translation)), source
