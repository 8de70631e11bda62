"""Counts the product's Python lines, now or at a revision: apps and project, without tests.

    python -m checks.product_lines [REVISION ...]

Migrations do not count: they are history and only grow. Blank lines and comments do.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import PurePath

FOLDERS = ("apps", "kbqa_project")
LEFT_OUT = {"tests", "migrations"}


def main() -> None:
    """Print one row a revision, and a row for the working tree."""
    for revision in [*sys.argv[1:], ""]:
        lengths = product_lines(revision)
        thin = sum(lines <= 40 for lines in lengths.values())
        sys.stdout.write(
            f"{revision or 'working tree'}: {sum(lengths.values())} lines in {len(lengths)} files,"
            f" {thin} of at most 40 lines\n"
        )


def product_lines(revision: str = "") -> dict[str, int]:
    """Return the number of lines of each product file that is not empty, by path."""
    listing = ["ls-tree", "-r", "--name-only", revision] if revision else ["ls-files"]
    paths = [path for path in _git(*listing, *FOLDERS).splitlines() if is_product(path)]
    texts = {path: _git("show", f"{revision}:{path}") for path in paths}
    return {path: len(text.splitlines()) for path, text in texts.items() if text.strip()}


def is_product(path: str) -> bool:
    """Whether a path of the repository is a module of the product."""
    pure = PurePath(path)
    return pure.suffix == ".py" and not LEFT_OUT.intersection(pure.parts)


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], check=True, capture_output=True, text=True)  # noqa: S603, S607 - our own command line
    return done.stdout


if __name__ == "__main__":
    main()
