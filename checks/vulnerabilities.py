"""Asks the package index for known vulnerabilities of a lock file.

Passes, and says so, where the index cannot be reached or does not know the packages: a machine
without internet must be able to run the tests.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

TIMEOUT_S = 120


def main() -> int:
    """Audit the lock file named on the command line; return 1 when a vulnerability is known."""
    audited = audit(sys.argv[1])
    if audited is None:
        say("the package index offers no audit here")
        return 0
    skipped = [item for item in audited if "skip_reason" in item]
    affected = [item for item in audited if item.get("vulns")]
    for item in affected:
        known = ", ".join(str(entry["id"]) for entry in item["vulns"])
        say(f"{item['name']} {item['version']}: {known}")
    say(f"{len(audited) - len(skipped)} packages audited, {len(skipped)} unknown to the index")
    return 1 if affected else 0


def audit(lock: str) -> list[dict[str, Any]] | None:
    """Return what pip-audit says about each package, or None when it could not ask."""
    with TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pip_audit", "--requirement", lock, "--require-hashes"]
        command += ["--disable-pip", "--format", "json", "--output", str(report)]
        try:
            subprocess.run(command, check=False, capture_output=True, timeout=TIMEOUT_S)  # noqa: S603
        except subprocess.TimeoutExpired:
            return None
        if not report.exists():
            return None
        dependencies: list[dict[str, Any]] = json.loads(report.read_text())["dependencies"]
        return dependencies


def say(sentence: str) -> None:
    """Print one line."""
    sys.stdout.write(f"vulnerabilities: {sentence}\n")


if __name__ == "__main__":
    sys.exit(main())
