"""Read the annotations of a PDF page: links, comments and form fields."""

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pypdfium2.raw as pdfium

from outrider.pages.readers.pdf_layout.graphics import Box


@dataclass(frozen=True, slots=True)
class PdfLink:
    """A URL, and the rectangles that link to it."""

    url: str
    boxes: tuple[Box, ...]


def iter_links(document: Any, page: Any) -> Iterator[PdfLink]:
    """Yield the URLs of the page's link annotations (ISO 32000-1 section 12.6.4.7)."""
    max_url_bytes = 2_048
    max_links = 500
    position, link = ctypes.c_int(0), pdfium.FPDF_LINK()
    for _ in range(max_links):
        if not pdfium.FPDFLink_Enumerate(page.raw, position, link):
            return
        action = pdfium.FPDFLink_GetAction(link)
        if not action:
            continue
        buffer = ctypes.create_string_buffer(max_url_bytes)
        size = pdfium.FPDFAction_GetURIPath(document.raw, action, buffer, max_url_bytes)
        if not 1 < size <= max_url_bytes:
            continue
        corners, box = pdfium.FS_QUADPOINTSF(), pdfium.FS_RECTF()
        boxes: list[Box] = []  # one for each line of the link's text
        count = min(pdfium.FPDFLink_CountQuadPoints(link), 50)
        for number in range(count):
            if pdfium.FPDFLink_GetQuadPoints(link, number, corners):
                xs = corners.x1, corners.x2, corners.x3, corners.x4
                ys = corners.y1, corners.y2, corners.y3, corners.y4
                boxes.append(Box(min(xs), min(ys), max(xs), max(ys)))
        if not count and pdfium.FPDFLink_GetAnnotRect(link, box):
            xs, ys = (box.left, box.right), (box.bottom, box.top)
            boxes.append(Box(min(xs), min(ys), max(xs), max(ys)))
        yield PdfLink(buffer.raw[: size - 1].decode("utf-8", "replace"), tuple(boxes))


def read_comments(page: Any) -> tuple[list[str], bool]:
    """Return the readers' comments, and whether form fields or stamps draw text over the page."""
    hidden_flag = 2  # ISO 32000-1 table 165
    max_annotations = 2_000
    drawn_kinds = {pdfium.FPDF_ANNOT_WIDGET, pdfium.FPDF_ANNOT_FREETEXT, pdfium.FPDF_ANNOT_STAMP}
    comment_kinds = {
        pdfium.FPDF_ANNOT_TEXT, pdfium.FPDF_ANNOT_HIGHLIGHT, pdfium.FPDF_ANNOT_UNDERLINE, pdfium.FPDF_ANNOT_STRIKEOUT,
    }  # fmt: skip
    comments: list[str] = []
    has_drawn = False
    for number in range(min(max_annotations, pdfium.FPDFPage_GetAnnotCount(page.raw))):
        annotation = pdfium.FPDFPage_GetAnnot(page.raw, number)
        kind = pdfium.FPDFAnnot_GetSubtype(annotation)
        has_drawn = has_drawn or kind in drawn_kinds
        if kind in comment_kinds and not pdfium.FPDFAnnot_GetFlags(annotation) & hidden_flag:
            keys = (b"Contents", b"T")
            text, author = (_read_text(pdfium.FPDFAnnot_GetStringValue, annotation, key) for key in keys)
            comments += [f"Comment{f' by {author}' if author else ''}: {text}"] if text else []
        pdfium.FPDFPage_CloseAnnot(annotation)
    return comments, has_drawn


def take_choices(document: Any, page: Any) -> list[tuple[Box, str]]:
    """Return the choices of the page's list boxes with their rectangles, and hide the boxes.

    They show all options, and only color marks the chosen ones. Boxes without a choice stay.
    """
    hidden_flag = 2  # ISO 32000-1 table 165
    max_annotations, max_options = 2_000, 1_000
    choices: list[tuple[Box, str]] = []
    for number in range(min(max_annotations, pdfium.FPDFPage_GetAnnotCount(page.raw)) if document.formenv else 0):
        annotation, rect = pdfium.FPDFPage_GetAnnot(page.raw, number), pdfium.FS_RECTF()
        is_list = pdfium.FPDFAnnot_GetFormFieldType(document.formenv, annotation) == pdfium.FPDF_FORMFIELD_LISTBOX
        count = pdfium.FPDFAnnot_GetOptionCount(document.formenv, annotation) if is_list else 0
        chosen = [
            _read_text(pdfium.FPDFAnnot_GetOptionLabel, document.formenv, annotation, each)
            for each in range(min(count, max_options))
            if pdfium.FPDFAnnot_IsOptionSelected(document.formenv, annotation, each)
        ]
        if chosen and pdfium.FPDFAnnot_GetRect(annotation, rect):
            flags = pdfium.FPDFAnnot_GetFlags(annotation)
            if not flags & hidden_flag:
                choices.append((Box(rect.left, rect.bottom, rect.right, rect.top), ", ".join(chosen)))
            pdfium.FPDFAnnot_SetFlags(annotation, flags | hidden_flag)
        pdfium.FPDFPage_CloseAnnot(annotation)
    return choices


def _read_text(function: Callable[..., int], *arguments: Any) -> str:
    """Return the text that a function of PDFium writes into a buffer, its last arguments."""
    max_text_bytes = 4_000
    buffer = ctypes.create_string_buffer(max_text_bytes)
    size = function(*arguments, ctypes.cast(buffer, ctypes.POINTER(pdfium.FPDF_WCHAR)), max_text_bytes)
    return " ".join(buffer.raw[: min(size, max_text_bytes)].decode("utf-16-le", "replace").rstrip("\x00").split())
