"""Text out of an uploaded file, within limits of time, memory, pages and characters.

Everything that a crafted file could break runs in a child process; only small text files, whose
reading is linear, are read here. No OCR, and no text of annotations or form fields.
"""

from apps.documents.extraction.extract import extract

__all__ = ["extract"]
