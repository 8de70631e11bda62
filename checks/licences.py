"""Refuses installed packages whose copyleft licence would bind our own code."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter

# AGPL and GPL, not the LGPL; "GNU General Public" is how classifiers write it.
BINDING = re.compile(r"(?<!L)(AGPL|GPL)|GNU (Affero )?General Public", re.IGNORECASE)
SILENT = frozenset({"", "UNKNOWN"})
# Packages whose metadata names no licence, read in their source distribution.
READ_BY_HAND = {"huey": "MIT", "axe-playwright-python": "MIT"}


def main() -> int:
    """Print a summary; return 1 when a package is binding or names no licence."""
    command = [sys.executable, "-m", "piplicenses", "--format=json", "--from=mixed"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603
    licences = {item["Name"]: licence_of(item) for item in json.loads(listed)}
    refused = {name: text for name, text in licences.items() if is_refused(text)}
    for name, text in sorted(refused.items()):
        sys.stdout.write(f"licences: {name} has {text or 'no licence'}\n")
    common = ", ".join(f"{name} {n}" for name, n in Counter(licences.values()).most_common(6))
    sys.stdout.write(f"licences: {len(licences)} packages ({common}, ...)\n")
    return 1 if refused else 0


def licence_of(item: dict[str, str]) -> str:
    """Return the first line of what a package says about its licence."""
    text = item["License"].strip().splitlines()[0] if item["License"].strip() else ""
    return READ_BY_HAND.get(item["Name"].lower(), text) if text in SILENT else text


def is_refused(licence: str) -> bool:
    """Whether a licence would bind our own code, or is not named at all."""
    return licence in SILENT or BINDING.search(licence) is not None


if __name__ == "__main__":
    sys.exit(main())
