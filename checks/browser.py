"""Finds the Chromium that the browser tests drive; downloads none by itself."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC_PATHS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)


def find_browser() -> str | None:
    """Return the path of a Chromium or Chrome, or None."""
    found = (shutil.which(name) for name in NAMES)
    return next((path for path in (*found, *MAC_PATHS) if path and Path(path).exists()), None)


def main() -> int:
    """Return 1 with one line when there is no browser."""
    if find_browser() is not None:
        return 0
    sys.stderr.write("the tests need Chromium or Chrome: install it (Debian: chromium)\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
