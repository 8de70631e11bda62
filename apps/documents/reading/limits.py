"""What a reading reads and may use, and how the extraction child binds itself to it."""

from __future__ import annotations

import math
import resource
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

CPU_GRACE_S = 5  # the parent's clock ends the child first; this holds when the parent is stopped


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """Limits of one reading."""

    timeout_s: float
    memory_mib: int
    max_pages: int
    max_text_chars: int


@dataclass(frozen=True, slots=True)
class Source:
    """A stored file to be read; `findings` is what its kind's check found, {} if unknown."""

    path: Path
    limits: ReadLimits
    findings: Mapping[str, object] = field(default_factory=dict)


def bind_process(limits: ReadLimits) -> None:
    """Limit the CPU time, the address space and the files of this process for good.

    macOS accepts but does not enforce RLIMIT_AS: there the parent's watch over the resident memory
    holds alone.
    """
    cpu_s = math.ceil(limits.timeout_s) + CPU_GRACE_S
    memory_bytes = limits.memory_mib << 20
    wanted = (
        (resource.RLIMIT_CPU, cpu_s),
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_CORE, 0),
    )
    for kind, value in wanted:
        with suppress(ValueError, OSError):  # a lower hard limit is in force already
            resource.setrlimit(kind, (value, value))
