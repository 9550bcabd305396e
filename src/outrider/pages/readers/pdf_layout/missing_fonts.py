"""Find a PDF page's fonts that neither file nor machine has."""

import ctypes
from collections.abc import Iterable
from typing import Any

import pypdfium2.raw as pdfium

FALLBACK_FAMILIES = (b"Chrome Sans MM", b"Chrome Serif MM")  # PDFium's own, which have Latin letters only


def find_missing_fonts(text_objects: Iterable[Any], textpage: Any) -> list[str]:
    """Return the names of fonts whose absence makes PDFium drop text.

    PDFium drops vertical text whose letters have no height, which is the case for each letter that its own font lacks.
    A font is not missing if at least one piece of its text was read.
    """
    max_pieces = 50  # of one font: pages repeat what their first pieces show
    pieces_read: dict[int, int] = {}  # by the font's address; -1 where the font is good
    names: dict[int, str] = {}
    for text_object in text_objects:
        font = pdfium.FPDFTextObj_GetFont(text_object)
        if not font:
            continue
        address = ctypes.addressof(font.contents)
        count = pieces_read.setdefault(address, 0 if _is_fallback(font) else -1)
        if not 0 <= count < max_pieces:
            continue
        text_bytes = pdfium.FPDFTextObj_GetText(text_object, textpage.raw, None, 0)
        is_dropped = text_bytes <= 2  # the terminator alone (fpdf_edit.h)
        pieces_read[address] = count + 1 if is_dropped else -1
        names.setdefault(address, _read_name(pdfium.FPDFFont_GetBaseFontName, font).decode("utf-8", "replace"))
    return sorted({name for address, name in names.items() if name and pieces_read[address] > 0})


def _is_fallback(font: Any) -> bool:
    """Return whether PDFium replaces a missing font by its own."""
    if pdfium.FPDFFont_GetIsEmbedded(font):
        return False
    return _read_name(pdfium.FPDFFont_GetFamilyName, font) in FALLBACK_FAMILIES


def _read_name(read: Any, font: Any) -> bytes:
    max_name_bytes = 200
    buffer = ctypes.create_string_buffer(max_name_bytes)
    read(font, buffer, max_name_bytes)
    return buffer.value
