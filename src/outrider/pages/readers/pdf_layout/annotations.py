"""The annotations of a PDF page: where its links lead, what is remarked on it, and what its forms say."""

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pypdfium2.raw as pdfium

from outrider.pages.readers.pdf_layout.graphics import Box


@dataclass(frozen=True, slots=True)
class PdfLink:
    """An address, and the rectangles that lead there."""

    url: str
    boxes: tuple[Box, ...]


def iter_links(document: Any, page: Any) -> Iterator[PdfLink]:
    """The addresses that the page's link annotations open (ISO 32000-1 section 12.6.4.7)."""
    max_url_bytes = 2_048  # bytes
    max_links = 500  # of one page
    position, link = ctypes.c_int(0), pdfium.FPDF_LINK()
    for _ in range(max_links):
        if not pdfium.FPDFLink_Enumerate(page.raw, position, link):
            return
        action = pdfium.FPDFLink_GetAction(link)
        if action:
            buffer = ctypes.create_string_buffer(max_url_bytes)
            size = pdfium.FPDFAction_GetURIPath(document.raw, action, buffer, max_url_bytes)
            if 1 < size <= max_url_bytes:
                yield PdfLink(buffer.raw[: size - 1].decode("utf-8", "replace"), tuple(_iter_link_boxes(link)))


def _iter_link_boxes(link: Any) -> Iterator[Box]:
    """The rectangles of a link; one that is broken over lines has several."""
    corners, box = pdfium.FS_QUADPOINTSF(), pdfium.FS_RECTF()
    count = min(pdfium.FPDFLink_CountQuadPoints(link), 50)
    for at in range(count):
        if pdfium.FPDFLink_GetQuadPoints(link, at, corners):
            across = corners.x1, corners.x2, corners.x3, corners.x4
            up = corners.y1, corners.y2, corners.y3, corners.y4
            yield Box(min(across), min(up), max(across), max(up))
    if not count and pdfium.FPDFLink_GetAnnotRect(link, box):
        yield Box(
            min(box.left, box.right), min(box.bottom, box.top), max(box.left, box.right), max(box.bottom, box.top)
        )


def read_comments(page: Any) -> tuple[list[str], bool]:
    """What readers have written at the page's margins, and whether forms or stamps show text as well."""
    hidden_flag = 2  # annotation flag (ISO 32000-1 table 165)
    max_annotations = 2_000
    shown = {pdfium.FPDF_ANNOT_WIDGET, pdfium.FPDF_ANNOT_FREETEXT, pdfium.FPDF_ANNOT_STAMP}
    noted = {
        pdfium.FPDF_ANNOT_TEXT, pdfium.FPDF_ANNOT_HIGHLIGHT, pdfium.FPDF_ANNOT_UNDERLINE, pdfium.FPDF_ANNOT_STRIKEOUT,
    }  # fmt: skip
    found: list[str] = []
    drawn = False
    for at in range(min(max_annotations, pdfium.FPDFPage_GetAnnotCount(page.raw))):
        each = pdfium.FPDFPage_GetAnnot(page.raw, at)
        kind = pdfium.FPDFAnnot_GetSubtype(each)
        drawn = drawn or kind in shown
        if (
            kind in noted
            and not pdfium.FPDFAnnot_GetFlags(each) & hidden_flag
            and (said := _read_string(each, b"Contents"))
        ):
            who = _read_string(each, b"T")
            found.append(f"Comment{f' by {who}' if who else ''}: {said}")
        pdfium.FPDFPage_CloseAnnot(each)
    return found, drawn


def _read_string(annotation: Any, key: bytes) -> str:
    max_text_bytes = 4_000  # bytes
    buffer = ctypes.create_string_buffer(max_text_bytes)
    size = pdfium.FPDFAnnot_GetStringValue(
        annotation, key, ctypes.cast(buffer, ctypes.POINTER(pdfium.FPDF_WCHAR)), max_text_bytes
    )
    return " ".join(buffer.raw[: min(size, max_text_bytes)].decode("utf-16-le", "replace").rstrip("\x00").split())
