"""Which modules one upload and one question pass, seen while they happen.

    python -m checks.ways [--show]

Uploads a Markdown file over the JSON API, indexes it and asks about it on the page, on a temporary
data folder with the embedded models, and notes each product module of which a function runs.
Modules of values count apart: those that define only data, errors and database tables. What the
extraction child runs counts too. Exits with 1 when a way is longer than it may be.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import inspect
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType

LIMITS = {"upload": 20, "question": 40}
ROOT = Path(__file__).resolve().parent.parent
TEXT = "# 年假\n\n员工每年享有十五天带薪年假，需提前三天申请。\n"
QUESTION = "年假有多少天？"
# Bases and decorators that make a class a value: it holds data and decides nothing.
VALUES = {
    *("dataclass", "BaseModel", "Schema", "ModelSchema", "TypedDict", "Protocol", "Enum"),
    *("StrEnum", "TextChoices", "IntegerChoices", "Model", "QuerySet", "Manager", "NamedTuple"),
    *("AppError", "Exception", "ValueError", "Field", "BigIntegerField"),
}
# Passed by every request, whatever it is about.
FRAME = ("core/web/", "accounts/", "core/processes/", "kbqa_project/")
TOOL = sys.monitoring.PROFILER_ID


def main() -> int:
    """Print the lengths of both ways; return 1 when one is too long."""
    parser = argparse.ArgumentParser(prog="python -m checks.ways")
    parser.add_argument("--show", action="store_true", help="list the modules, too")
    show = parser.parse_args().show
    is_long = False
    for way, passed in _ways().items():
        steps = sorted(path for path in passed if not is_value(path) and not _is_frame(path))
        is_long |= len(steps) > LIMITS[way]
        _say(f"{way}: {len(steps)} modules (at most {LIMITS[way]}), {len(passed)} with values")
        for path in steps if show else ():
            _say(f"  {path}")
    return int(is_long)


def is_value(path: str) -> bool:
    """Whether the module at `path` (from the root) defines only data, errors and tables."""
    body = ast.parse((ROOT / path).read_text("utf-8")).body
    classes = [node for node in body if isinstance(node, ast.ClassDef)]
    known = set(VALUES)
    for node in classes:
        if not _names(node) & known and not any(n.endswith("Error") for n in _names(node)):
            return False
        known.add(node.name)
    functions = [node for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return bool(classes) and all(node.name.startswith("_") for node in functions)


def _names(node: ast.ClassDef) -> set[str]:
    """Return the last parts of the names of a class's bases and decorators."""
    inner = [part for top in (*node.bases, *node.decorator_list) for part in ast.walk(top)]
    names = {part.id for part in inner if isinstance(part, ast.Name)}
    return names | {part.attr for part in inner if isinstance(part, ast.Attribute)}


def _is_frame(path: str) -> bool:
    return path.removeprefix("apps/").startswith(FRAME)


def _ways() -> dict[str, set[str]]:
    with tempfile.TemporaryDirectory(prefix="kbqa-ways-") as folder:
        os.environ.update(  # noqa: TID251 - before the product reads it
            KBQA_ENV_FILE="",
            KBQA_DATA_DIR=folder,
            DJANGO_SETTINGS_MODULE="kbqa_project.settings",
        )
        import django  # noqa: PLC0415 - the folder comes first

        django.setup()
        return _upload_and_ask()


def _upload_and_ask() -> dict[str, set[str]]:
    # The settings must be ready before any of these is imported.
    from django.core.management import call_command  # noqa: PLC0415
    from django.test import Client  # noqa: PLC0415
    from django.test.utils import setup_test_environment  # noqa: PLC0415

    from apps.agents.flow import warm_up  # noqa: PLC0415
    from apps.documents.vectors.owner import running_owner  # noqa: PLC0415

    setup_test_environment()
    call_command("prepare", verbosity=0)
    client = Client()
    with running_owner():
        warm_up()
        client.get("/documents/")
        with _noted() as uploaded:
            _upload(client)
        with _noted() as asked:
            asyncio.run(_ask())
    return {"upload": uploaded | _child_modules(), "question": asked}


def _upload(client: object) -> None:
    from django.core.files.uploadedfile import SimpleUploadedFile  # noqa: PLC0415
    from huey.contrib.djhuey import HUEY  # noqa: PLC0415

    file = SimpleUploadedFile("年假.md", TEXT.encode(), content_type="text/markdown")
    answer = client.post("/api/v1/documents", {"file": file})  # type: ignore[attr-defined]
    if answer.status_code != 202:
        raise SystemExit(f"the upload answered {answer.status_code}: {answer.content[:200]!r}")
    while task := HUEY.dequeue():
        HUEY.execute(task)


async def _ask() -> None:
    from django.test import AsyncClient  # noqa: PLC0415

    client = AsyncClient()
    page = await client.post("/chat/new/ask", {"question": QUESTION}, follow=True)
    address = page.content.decode().partition('sse-connect="')[2].partition('"')[0]
    stream = await client.get(address.replace("&amp;", "&"))
    body = b"".join([part async for part in stream.streaming_content])
    if "十五天" not in body.decode():
        raise SystemExit("the question was not answered")


def _child_modules() -> set[str]:
    """Return the product's modules that the extraction child loads for a Markdown file."""
    code = (
        "import sys, apps.documents.reading.child\n"
        "print(*(m.__file__ for n, m in sys.modules.items()"
        " if n.startswith('apps.') and getattr(m, '__file__', None)), sep='\\n')"
    )
    done = subprocess.run(  # noqa: S603 - our own command line
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True
    )
    paths = (Path(line).relative_to(ROOT) for line in done.stdout.splitlines())
    return {str(path) for path in paths if path.name != "__init__.py"}


@contextmanager
def _noted() -> Iterator[set[str]]:
    """Note the files under apps and kbqa_project of which a function runs in any thread."""
    passed: set[str] = set()

    def note(code: CodeType, _offset: int) -> object:
        path = Path(code.co_filename)
        # Bodies of modules and classes are imports, not steps.
        if code.co_flags & inspect.CO_OPTIMIZED and path.is_relative_to(ROOT):
            relative = path.relative_to(ROOT)
            if relative.parts[0] in {"apps", "kbqa_project"}:
                passed.add(str(relative))
        return sys.monitoring.DISABLE

    events = sys.monitoring.events.PY_START
    sys.monitoring.use_tool_id(TOOL, "ways")
    sys.monitoring.register_callback(TOOL, events, note)
    sys.monitoring.restart_events()
    sys.monitoring.set_events(TOOL, events)
    try:
        yield passed
    finally:
        sys.monitoring.set_events(TOOL, 0)
        sys.monitoring.free_tool_id(TOOL)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
