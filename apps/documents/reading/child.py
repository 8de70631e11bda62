"""The extraction child: reads one file within limits and sends its parts to the parent.

Run as `python -m apps.documents.reading.child FILE READER LIMITS FINDINGS`, where READER is
`module:function`. It ends when its standard input closes, that is when the parent dies. Libraries
that print do not disturb the frames.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from apps.documents.reading.failures import EXTRACTION_LIMIT, UnreadableError
from apps.documents.reading.frames import write_part
from apps.documents.reading.limits import ReadLimits, Source, bind_process

if TYPE_CHECKING:
    from typing import BinaryIO

PARENT_GONE = 3  # exit status


def main(path: str, reader: str, limits_json: str, findings_json: str) -> None:
    """Read the file at `path` and write frames to the standard output."""
    stream = _private_stdout()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    limits = ReadLimits(**json.loads(limits_json))
    bind_process(limits)
    module, _, name = reader.partition(":")
    try:
        read = getattr(importlib.import_module(module), name)
        for part in read(Source(Path(path), limits, json.loads(findings_json))):
            write_part(stream, part)
    except UnreadableError as error:
        write_part(stream, error)
    except MemoryError:
        write_part(stream, UnreadableError(EXTRACTION_LIMIT))


def _private_stdout() -> BinaryIO:
    """Return the pipe to the parent; what anybody prints from now on goes nowhere."""
    pipe = os.dup(sys.stdout.fileno())
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return os.fdopen(pipe, "wb")


def _end_with_parent() -> None:
    while os.read(0, 1024):
        pass
    os._exit(PARENT_GONE)


if __name__ == "__main__":
    main(*sys.argv[1:])
