"""Build PDFs of one page, object by object."""

import zlib

import pypdfium2

from support.documents.font_files import build_square_font

FONT_PREFIX = "<< /Type /Font /Subtype /Type1 /BaseFont"
FONT_RESOURCES = f"/Resources << /Font << /F1 {FONT_PREFIX} /Helvetica >> /F2 {FONT_PREFIX} /Helvetica-Bold >> >> >>"


def draw_text(x: float, y: float, text: str, *, size: float = 11, font: str = "F1") -> str:
    """Return the drawing of words at a point of the page."""
    return f"BT /{font} {size} Tf {x} {y} Td ({text}) Tj ET\n"


def build_pdf_page(content: str, more: str = "", *objects: str, catalog: str = "") -> bytes:
    """Return a PDF of one page; `more` is added to the page's dictionary, `objects` are numbered from 5."""
    stream = f"<< /Length {len(content)} >>\nstream\n{content}\nendstream"
    parts = [
        f"<< /Type /Catalog /Pages 2 0 R {catalog} >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R {FONT_RESOURCES} {more} >>",
        stream,
        *objects,
    ]
    out, places = "%PDF-1.7\n", []
    for number, part in enumerate(parts, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{part}\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    head = f"xref\n0 {len(parts) + 1}\n0000000000 65535 f \n"
    tail = f"trailer\n<< /Size {len(parts) + 1} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
    return (out + head + table + tail).encode("latin-1")


def build_scanned_pdf(content: str) -> bytes:
    """Return a PDF of one page that is a picture of this content, at 150 dots per inch."""
    with pypdfium2.PdfDocument(build_pdf_page(content)) as document:
        picture = document[0].render(scale=150 / 72, grayscale=True).to_numpy()
    height, width = picture.shape[:2]
    pixels = zlib.compress(picture.tobytes()).hex()
    image = (
        f"<< /Type /XObject /Subtype /Image /Width {width} /Height {height} /ColorSpace /DeviceGray "
        f"/BitsPerComponent 8 /Filter [/ASCIIHexDecode /FlateDecode] /Length {len(pixels)} >>"
        f"\nstream\n{pixels}\nendstream"
    )
    return build_pdf_page("q 612 0 0 792 0 0 cm /I1 Do Q", "/Resources << /XObject << /I1 5 0 R >> >>", image)


def build_unicode_pdf(pieces: list[tuple[float, float, str]]) -> bytes:
    """Return a PDF with texts at points of the page, in a font with a code for each of their letters."""
    letters = sorted({letter for *_, text in pieces for letter in text})
    codes = {letter: 33 + at for at, letter in enumerate(letters)}
    table = "\n".join(f"<{codes[letter]:02x}> <{ord(letter):04x}>" for letter in letters)
    ranges = "1 begincodespacerange\n<00> <ff>\nendcodespacerange"
    cmap = f"{ranges}\n{len(letters)} beginbfchar\n{table}\nendbfchar"
    widths = " ".join(["500"] * 200)
    font = (
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R "
        f"/FirstChar 33 /LastChar 232 /Widths [{widths}] >>"
    )
    content = "".join(
        f"BT /F3 10 Tf {x} {y} Td <{''.join(f'{codes[letter]:02x}' for letter in text)}> Tj ET\n"
        for x, y, text in pieces
    )
    more = "/Resources << /Font << /F3 5 0 R >> >>"
    return build_pdf_page(content, more, font, f"<< /Length {len(cmap)} >>\nstream\n{cmap}\nendstream")


def build_vertical_pdf(columns: list[tuple[float, float, str]], size: float = 14) -> bytes:
    """Return a PDF with texts that run from top to bottom, in a font that is embedded."""
    letters = sorted({letter for *_, text in columns for letter in text})
    codes = {letter: f"{number:04x}" for number, letter in enumerate(letters, 1)}
    content = "".join(
        f"BT /F4 {size} Tf {x} {y} Td <{''.join(codes[letter] for letter in text)}> Tj ET\n" for x, y, text in columns
    )
    table = "\n".join(f"<{codes[letter]}> <{ord(letter):04x}>" for letter in letters)
    ranges = "1 begincodespacerange\n<0000> <ffff>\nendcodespacerange"
    cmap = f"{ranges}\n{len(letters)} beginbfchar\n{table}\nendbfchar"
    program = f"{build_square_font(len(letters)).hex()}>"
    descriptor = (
        "<< /Type /FontDescriptor /FontName /Squares /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 880 "
        "/Descent -120 /CapHeight 700 /StemV 80 /FontFile2 7 0 R >>"
    )
    descendant = (
        "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Squares /CIDToGIDMap /Identity /DW 1000 /CIDSystemInfo "
        f"<< /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor {descriptor} >>"
    )
    font = (
        "<< /Type /Font /Subtype /Type0 /BaseFont /Squares /Encoding /Identity-V /ToUnicode 6 0 R "
        f"/DescendantFonts [ {descendant} ] >>"
    )
    return build_pdf_page(
        content,
        "/Resources << /Font << /F4 5 0 R >> >>",
        font,
        f"<< /Length {len(cmap)} >>\nstream\n{cmap}\nendstream",
        f"<< /Length {len(program)} /Filter /ASCIIHexDecode >>\nstream\n{program}\nendstream",
    )


def build_pdf_without_fonts(
    columns: list[tuple[float, float, str]], cmap: str, collection: str, font: str, more: str = ""
) -> bytes:
    """Return a PDF with East Asian text in a font that the reader's machine must have.

    Args:
        columns: Points of the page, and texts from there.
        cmap: A predefined CMap for UTF-16 that ends with -H or -V, for text across or from top to bottom.
        collection: The Adobe character collection, as `Japan1`.
        font: The font's name.
        more: Further drawing operations.
    """
    descriptor = (
        f"<< /Type /FontDescriptor /FontName /{font} /Flags 4 /FontBBox [0 -120 1000 880] /ItalicAngle 0 /Ascent 880 "
        "/Descent -120 /CapHeight 700 /StemV 80 >>"
    )
    descendant = (
        f"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /{font} /DW 1000 /CIDSystemInfo << /Registry (Adobe) "
        f"/Ordering ({collection}) /Supplement 2 >> /FontDescriptor {descriptor} >>"
    )
    described = (
        f"<< /Type /Font /Subtype /Type0 /BaseFont /{font} /Encoding /{cmap} /DescendantFonts [ {descendant} ] >>"
    )
    content = "".join(f"BT /F4 14 Tf {x} {y} Td <{text.encode('utf-16-be').hex()}> Tj ET\n" for x, y, text in columns)
    resources = f"/Resources << /Font << /F1 {FONT_PREFIX} /Helvetica >> /F4 5 0 R >> >>"
    return build_pdf_page(content + more, resources, described)
