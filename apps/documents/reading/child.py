"""The extraction child: reads one file within limits and sends its pages to the parent.

Run as `python -m apps.documents.reading.child FILE TYPE LIMITS`. It ends when its standard input
closes, that is when the parent dies. Libraries that print do not disturb the frames.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from apps.documents.reading.failures import EXTRACTION_LIMIT, UnreadableError
from apps.documents.reading.frames import write_frame
from apps.documents.reading.limits import ReadLimits, bind_process

if TYPE_CHECKING:
    from typing import BinaryIO

    from apps.documents.reading.pages import ExtractedText, PageText

PDF_TYPE = "pdf"
MARKDOWN_TYPE = "md"
PARENT_GONE = 3  # exit status


def main(path: str, file_type: str, limits_json: str) -> None:
    """Read the file at `path` and write frames to the standard output."""
    stream = _private_stdout()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    limits = ReadLimits(**json.loads(limits_json))
    bind_process(limits)
    try:
        if file_type == PDF_TYPE:
            _send_pdf(stream, Path(path), limits)
        else:
            _send_text(stream, Path(path), limits, markdown=file_type == MARKDOWN_TYPE)
    except UnreadableError as error:
        write_frame(stream, {"failed": error.code, "places": error.places})
    except MemoryError:
        write_frame(stream, {"failed": EXTRACTION_LIMIT, "places": {}})


def _send_pdf(stream: BinaryIO, path: Path, limits: ReadLimits) -> None:
    from apps.documents.reading.pdf import PdfReading  # noqa: PLC0415 - slow, not for text files

    reading = PdfReading(path, limits)
    reading.open()
    write_frame(stream, {"total": reading.page_count})
    for page in reading.pages():
        _send_page(stream, page)
    write_frame(stream, {"done": "", "warnings": reading.warnings()})


def _send_text(stream: BinaryIO, path: Path, limits: ReadLimits, *, markdown: bool) -> None:
    from apps.documents.reading.text import read_text  # noqa: PLC0415 - slow, not for PDFs

    text: ExtractedText = read_text(
        path.read_bytes(), markdown=markdown, max_text_chars=limits.max_text_chars
    )
    for page in text.pages:
        _send_page(stream, page)
    write_frame(stream, {"done": text.encoding, "warnings": list(text.warnings)})


def _send_page(stream: BinaryIO, page: PageText) -> None:
    headings = [[heading.offset, heading.level, heading.title] for heading in page.headings]
    write_frame(stream, {"page": page.number, "text": page.text, "headings": headings})


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
