"""First bytes that tell a binary format, whatever the file is called."""

from __future__ import annotations

PDF_MARK = b"%PDF"
PDF_MARK_WITHIN_BYTES = 1024  # ISO 32000-1, implementation note 13: where readers look for it

# Signatures that no text begins with (each holds a control or a byte that is no ASCII), and RTF,
# whose text is markup.
_CERTAIN = (
    b"\x89PNG", b"\xff\xd8\xff", b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08", b"\x7fELF",
    b"\x1f\x8b", b"\x1f\x9d", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf\x27\x1c",
    b"Rar!\x1a\x07", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"\xca\xfe\xba\xbe", b"\xce\xfa\xed\xfe",
    b"\xcf\xfa\xed\xfe", b"\x00asm", b"SQLite format 3\x00", b"\x1a\x45\xdf\xa3", b"II*\x00",
    b"MM\x00*", b"\x00\x00\x01\x00", b"!<arch>\n", b"{\\rtf",
)  # fmt: skip
# Signatures that a text may begin with: a NUL near the start must confirm them.
_LIKELY = (
    b"MZ", b"BM", b"GIF87a", b"GIF89a", b"RIFF", b"OggS", b"fLaC", b"ID3", b"BZh", b"wOFF",
    b"OTTO",
)  # fmt: skip
_CONFIRMED_WITHIN_BYTES = 512
_BOX_TYPE = slice(4, 8)  # MP4, MOV, HEIC, AVIF
_TAR_MARK = slice(257, 262)


def is_binary_format(head: bytes) -> bool:
    """Whether `head`, the first kilobyte of a file, is that of a known binary format but PDF."""
    if head.startswith(_CERTAIN) or head[_BOX_TYPE] == b"ftyp" or head[_TAR_MARK] == b"ustar":
        return True
    return head.startswith(_LIKELY) and b"\0" in head[:_CONFIRMED_WITHIN_BYTES]
