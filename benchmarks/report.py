"""One line per figure: what was measured, the value, the target, and whether it is met."""

from __future__ import annotations

import os
import platform
import statistics
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured value. `target` is the most it may be, or the least where `at_least`."""

    name: str
    value: float
    unit: str
    target: float | None = None
    at_least: bool = False

    @property
    def verdict(self) -> str:
        """How the value stands to its target."""
        if self.target is None:
            return ""
        met = self.value >= self.target if self.at_least else self.value <= self.target
        sign = ">=" if self.at_least else "<="
        return f"(target {sign} {self.target:g} {self.unit}: {'met' if met else 'MISSED'})"


def show(figures: Sequence[Figure]) -> None:
    """Print the figures."""
    for figure in figures:
        line = f"{figure.name:<58} {figure.value:>9.1f} {figure.unit:<9} {figure.verdict}"
        sys.stdout.write(line.rstrip() + "\n")
        sys.stdout.flush()


def show_machine() -> None:
    """Print when and where the figures were measured."""
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    cores = os.cpu_count()
    python = platform.python_version()
    sys.stdout.write(f"{now}, {platform.system()} {platform.machine()}, {cores} cores, {python}\n")


def percentile(values: Sequence[float], percent: int) -> float:
    """Return a percentile."""
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]
