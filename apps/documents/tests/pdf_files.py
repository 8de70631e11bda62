"""PDF files written by hand, so that each test shows what is special about its own."""

from __future__ import annotations

HELVETICA = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
# Not embedded and without ToUnicode: the characters follow from the predefined map.
SONG = (
    b"<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UCS2-H"
    b" /DescendantFonts [<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light"
    b" /CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 4 >>"
    b" /FontDescriptor << /Type /FontDescriptor /FontName /STSong-Light /Flags 4"
    b" /FontBBox [0 -200 1000 900] /ItalicAngle 0 /Ascent 900 /Descent -200 /StemV 80 >> >>] >>"
)
# Glyph numbers and nothing that tells which characters they draw.
UNMAPPED = SONG.replace(b"/UniGB-UCS2-H", b"/Identity-H").replace(b"(GB1)", b"(Identity)")


def text_pdf(*pages: str, font: bytes = HELVETICA) -> bytes:
    """Return a PDF with one line of text on each page; an empty string gives a blank page."""
    return pdf(*(shown(text, font=font) if text else b"" for text in pages), font=font)


def shown(text: str, *, font: bytes = HELVETICA) -> bytes:
    """Return the content stream that draws `text` on one line."""
    code = text.encode("cp1252") if font == HELVETICA else text.encode("utf-16-be")
    return b"BT /F1 12 Tf 72 720 Td <" + code.hex().encode() + b"> Tj ET"


def pdf(
    *contents: bytes, font: bytes = HELVETICA, resources: bytes = b"", filters: bytes = b""
) -> bytes:
    """Return a PDF with one page for each content stream; object 3 is the font."""
    kids = b" ".join(b"%d 0 R" % (4 + 2 * index) for index in range(len(contents)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count %d /Kids [%b] >>" % (len(contents), kids),
        font,
    ]
    for index, content in enumerate(contents):
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R"
            b" /Resources << /Font << /F1 3 0 R >> %b >> >>" % (5 + 2 * index, resources)
        )
        objects.append(stream(content, filters))
    return assembled(objects)


def stream(content: bytes, entries: bytes = b"") -> bytes:
    """Return a stream object's body."""
    return b"<< /Length %d %b >>\nstream\n%b\nendstream" % (len(content), entries, content)


def assembled(objects: list[bytes]) -> bytes:
    """Return a whole file with a cross-reference table; objects are numbered from 1."""
    out = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        start,
    )
    return bytes(out)
