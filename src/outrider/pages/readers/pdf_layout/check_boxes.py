"""Find the check boxes of a PDF page, of forms and drawn ones, and write a sign for each before its label.

The signs become text of the page before its text is read, so that they get their place in its lines and tables.
"""

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pypdfium2.raw as pdfium

from outrider.pages.readers.pdf_layout.graphics import Box

PLACEHOLDER = "\u00a4"  # a sign that the standard fonts have
TICKED_SIGN, EMPTY_SIGN = "\u2612", "\u2610"


@dataclass(frozen=True, slots=True)
class CheckBox:
    """A check box or radio button, and whether it is drawn instead of a field of a form."""

    box: Box
    is_ticked: bool
    is_drawn: bool = False

    def find_label(self, texts: list["PageObject"]) -> tuple["PageObject", bool] | None:
        """Return the text beside a check box, and whether it is on the right; mostly it is."""
        max_gap_widths = 3.0 if self.is_drawn else 8.0
        width, middle = self.box.right - self.box.left, self.box.center[1]
        beside = [each for each in texts if each.is_level_with(middle)]
        after = [each for each in beside if -1 <= each.box.left - self.box.right <= max_gap_widths * width]
        if after:
            return min(after, key=lambda each: each.box.left), True
        before = [each for each in beside if -1 <= self.box.left - each.box.right <= max_gap_widths * width]
        return (max(before, key=lambda each: each.box.right), False) if before else None


@dataclass(frozen=True, slots=True, eq=False)
class PageObject:
    """A path or a text of a page with its place among the page's objects."""

    number: int
    handle: Any
    box: Box

    def list_segments(self) -> list[int]:
        """Return the kinds of a path's segments."""
        count = pdfium.FPDFPath_CountSegments(self.handle)
        segments = (pdfium.FPDFPath_GetPathSegment(self.handle, number) for number in range(count))
        return [pdfium.FPDFPathSegment_GetType(segment) for segment in segments]

    def read_paint(self) -> tuple[bool, bool]:
        """Return whether a path is stroked, and whether it is filled with another color than white."""
        min_white, min_alpha = 250, 128  # of 255
        filled, stroked = ctypes.c_int(), ctypes.c_int()
        pdfium.FPDFPath_GetDrawMode(self.handle, filled, stroked)
        colors = [ctypes.c_uint() for _ in range(4)]
        if not filled.value or not pdfium.FPDFPageObj_GetFillColor(self.handle, *colors):
            return bool(stroked.value), bool(filled.value)
        *rgb, alpha = (color.value for color in colors)
        return bool(stroked.value), min(rgb) < min_white and alpha >= min_alpha

    def is_outlined_square(self) -> bool:
        """Return whether a path is the outline of a square of a check box's size."""
        min_side_pt, max_side_pt, max_ratio = 4.5, 18.0, 1.25
        min_segments, max_segments = 4, 20
        shorter, longer = sorted((self.box.right - self.box.left, self.box.top - self.box.bottom))
        if shorter < min_side_pt or longer > min(max_side_pt, max_ratio * shorter):
            return False
        if not min_segments <= pdfium.FPDFPath_CountSegments(self.handle) <= max_segments:
            return False
        is_outline = pdfium.FPDF_SEGMENT_MOVETO not in self.list_segments()[1:min_segments]
        return is_outline and self.read_paint() == (True, False)

    def holds_mark(self, mark: "PageObject") -> bool:
        """Return whether an object in this square is large enough for a tick, and not a second outline."""
        min_share, tolerance_pt, min_outline_share = 0.3, 1.5, 0.75
        side = self.box.right - self.box.left
        size = max(mark.box.right - mark.box.left, mark.box.top - mark.box.bottom)
        if not self.box.contains(*mark.box.center) or not min_share * side < size < side + 2 * tolerance_pt:
            return False
        if pdfium.FPDFPageObj_GetType(mark.handle) == pdfium.FPDF_PAGEOBJ_TEXT:
            return True
        is_outline = size > min_outline_share * side and mark.is_outlined_square()
        return any(mark.read_paint()) and not is_outline

    def touches(self, other: "PageObject") -> bool:
        """Return whether two squares are side by side without a gap, as fields for single letters are."""
        max_gap_pt = 1.5
        gap = max(other.box.left - self.box.right, self.box.left - other.box.right)
        return abs(self.box.bottom - other.box.bottom) < max_gap_pt and gap < max_gap_pt

    def is_level_with(self, y: float) -> bool:
        """Return whether a text is at a height of the page."""
        tolerance = 0.3 * (self.box.top - self.box.bottom)
        return self.box.bottom - tolerance < y < self.box.top + tolerance


def take_form_boxes(document: Any, page: Any) -> list[CheckBox]:
    """Return the check boxes and radio buttons of a page's form, and hide them, because signs replace them."""
    hidden_flag = 2  # ISO 32000-1 table 165
    max_annotations = 2_000
    kinds = {pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON}
    found: list[CheckBox] = []
    for number in range(min(max_annotations, pdfium.FPDFPage_GetAnnotCount(page.raw)) if document.formenv else 0):
        annotation, rect = pdfium.FPDFPage_GetAnnot(page.raw, number), pdfium.FS_RECTF()
        flags = pdfium.FPDFAnnot_GetFlags(annotation)
        is_box = pdfium.FPDFAnnot_GetFormFieldType(document.formenv, annotation) in kinds
        if is_box and not flags & hidden_flag and pdfium.FPDFAnnot_GetRect(annotation, rect):
            is_ticked = bool(pdfium.FPDFAnnot_IsChecked(document.formenv, annotation))
            found.append(CheckBox(Box(rect.left, rect.bottom, rect.right, rect.top), is_ticked))
            pdfium.FPDFAnnot_SetFlags(annotation, flags | hidden_flag)
        pdfium.FPDFPage_CloseAnnot(annotation)
    return found


def write_signs(document: Any, page: Any, form_boxes: list[CheckBox]) -> dict[int, str]:
    """Insert a placeholder for each check box before its label, and return the signs by the object's address."""
    # Where a form draws its fields, too, the fields know their state.
    squares = [
        each for each in _find_squares(page) if not any(box.box.contains(*each.box.center) for box in form_boxes)
    ]
    if not form_boxes and not squares:
        return {}
    texts = _list_objects(page, pdfium.FPDF_PAGEOBJ_TEXT)
    marks = [*texts, *_list_objects(page, pdfium.FPDF_PAGEOBJ_PATH)] if squares else []
    marks_of = {square: [mark for mark in marks if square.holds_mark(mark)] for square in squares}
    drawn = [
        CheckBox(square.box, bool(found) or square.list_segments().count(pdfium.FPDF_SEGMENT_MOVETO) > 1, is_drawn=True)
        for square, found in marks_of.items()
    ]
    drawn_texts = {mark for found in marks_of.values() for mark in found} & set(texts)
    labels = [each for each in texts if each not in drawn_texts]
    placed = [(label, box) for box in (*form_boxes, *drawn) if (label := box.find_label(labels)) is not None]
    signs: dict[int, str] = {}
    # From the end, because inserting an object changes the numbers of those after it.
    for (label, is_before), box in sorted(placed, key=lambda each: (each[0][0].number, each[0][1]), reverse=True):
        sign = _insert_placeholder(document, page, label, is_before=is_before)
        signs[ctypes.addressof(sign.contents)] = TICKED_SIGN if box.is_ticked else EMPTY_SIGN
    for mark in drawn_texts:  # an X in a box
        if pdfium.FPDFPage_RemoveObject(page.raw, mark.handle):
            pdfium.FPDFPageObj_Destroy(mark.handle)
    return signs


def _list_objects(page: Any, kind: int) -> list[PageObject]:
    """Return the objects of a kind at the top level of a page."""
    max_objects = 20_000
    objects: list[PageObject] = []
    edges = [ctypes.c_float() for _ in range(4)]
    count = pdfium.FPDFPage_CountObjects(page.raw)
    for number in range(count if count <= max_objects else 0):
        handle = pdfium.FPDFPage_GetObject(page.raw, number)
        if pdfium.FPDFPageObj_GetType(handle) == kind and pdfium.FPDFPageObj_GetBounds(handle, *edges):
            objects.append(PageObject(number, handle, Box(*(edge.value for edge in edges))))
    return objects


def _find_squares(page: Any) -> list[PageObject]:
    """Return the small outlined squares of a page that do not touch each other; none if there is only one."""
    min_squares, max_squares = 2, 400
    paths = (each for each in _list_objects(page, pdfium.FPDF_PAGEOBJ_PATH) if each.is_outlined_square())
    squares: list[PageObject] = []
    for path in sorted(paths, key=lambda each: each.box.left - each.box.right):
        if not any(each.box.contains(*path.box.center) for each in squares):  # an inner line of the same box
            squares.append(path)
    if not min_squares <= len(squares) <= max_squares:
        return []
    alone = [each for each in squares if not any(each.touches(other) for other in squares if other is not each)]
    return alone if len(alone) >= min_squares else []


def _insert_placeholder(document: Any, page: Any, label: PageObject, *, is_before: bool) -> Any:
    """Insert the placeholder beside a text, on its baseline and in its size."""
    width_em, gap_em = 0.56, 0.25
    matrix, size = pdfium.FS_MATRIX(), ctypes.c_float()
    pdfium.FPDFPageObj_GetMatrix(label.handle, matrix)
    pdfium.FPDFTextObj_GetFontSize(label.handle, size)
    shown_size = abs(size.value * matrix.d) or label.box.top - label.box.bottom
    x = label.box.left - (width_em + gap_em) * shown_size if is_before else label.box.right + gap_em * shown_size
    sign = pdfium.FPDFPageObj_NewTextObj(document.raw, b"Helvetica", shown_size)
    text = ctypes.create_string_buffer(f"{PLACEHOLDER}\x00".encode("utf-16-le"))
    pdfium.FPDFText_SetText(sign, ctypes.cast(text, ctypes.POINTER(pdfium.FPDF_WCHAR)))
    pdfium.FPDFPageObj_Transform(sign, 1, 0, 0, 1, x, matrix.f)
    pdfium.FPDFPage_InsertObjectAtIndex(page.raw, sign, label.number + (not is_before))
    return sign


def iter_placeholders(text: str) -> Iterator[int]:
    """Yield the index of each character that may be a placeholder."""
    index = text.find(PLACEHOLDER)
    while index >= 0:
        yield index
        index = text.find(PLACEHOLDER, index + 1)
