"""What is drawn on a PDF page besides its text: the rules of tables, pictures, and what is filled with colour."""

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

MAX_RULE_WIDTH_PT = 3.0  # points: a rectangle that is no thicker is a rule


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in points from the page's lower left corner."""

    left: float
    bottom: float
    right: float
    top: float

    def contains(self, x: float, y: float) -> bool:
        return self.left <= x <= self.right and self.bottom <= y <= self.top


@dataclass
class PageGraphics:
    """What is drawn on a page: upright and level rules, pictures, and surfaces that are not white."""

    vertical_rules: list[Box] = field(default_factory=list)
    horizontal_rules: list[Box] = field(default_factory=list)
    pictures: list[Box] = field(default_factory=list)
    surfaces: list[Box] = field(default_factory=list)

    def add_rule(self, box: Box) -> None:
        """Takes a rule, if the rectangle is one."""
        min_rule_length_pt = 6.0  # points: a rule that is no longer is a tick or a dash
        wide, high = box.right - box.left, box.top - box.bottom
        if high <= MAX_RULE_WIDTH_PT and wide > min_rule_length_pt:
            self.horizontal_rules.append(box)
        elif wide <= MAX_RULE_WIDTH_PT and high > min_rule_length_pt:
            self.vertical_rules.append(box)

    def transform(self, place: Callable[[Box], Box]) -> "PageGraphics":
        """The same at other places."""
        if place(Box(0, 0, 1, 2)) == Box(0, 0, 1, 2):
            return self
        made = PageGraphics(
            pictures=[place(box) for box in self.pictures], surfaces=[place(box) for box in self.surfaces]
        )
        for box in (*self.vertical_rules, *self.horizontal_rules):
            made.add_rule(place(box))
        return made

    def has_background(self, x: float, y: float) -> bool:
        """Whether something stands behind a place that white letters could be read on."""
        return any(box.contains(x, y) for box in (*self.pictures, *self.surfaces))


def collect_graphics(page: Any) -> PageGraphics:
    """What is drawn on a page of pypdfium2."""
    return _GraphicsCollector(page.raw).graphics


class _GraphicsCollector:
    """Looks at the objects of a page."""

    def __init__(self, page: Any) -> None:
        max_objects = 20_000  # of one page that are looked at: maps have more, and no tables
        import pypdfium2.raw as pdfium

        self._pdfium = pdfium
        self._objects_left = max_objects
        self.graphics = PageGraphics()
        count = pdfium.FPDFPage_CountObjects(page)
        self._visit_objects((pdfium.FPDFPage_GetObject(page, at) for at in range(count)), (1, 0, 0, 1, 0, 0), 0)

    def _visit_objects(self, objects: Iterator[Any], matrix: tuple[float, ...], depth: int) -> None:
        max_form_depth = 4  # forms within forms (ISO 32000-1 section 8.10)
        pdfium = self._pdfium
        for each in objects:
            self._objects_left -= 1
            if self._objects_left < 0:
                return
            kind = pdfium.FPDFPageObj_GetType(each)
            if kind == pdfium.FPDF_PAGEOBJ_PATH:
                self._visit_path(each, matrix)
            elif kind == pdfium.FPDF_PAGEOBJ_FORM and depth < max_form_depth:
                count = pdfium.FPDFFormObj_CountObjects(each)
                inside = (pdfium.FPDFFormObj_GetObject(each, at) for at in range(count))
                self._visit_objects(inside, _multiply_matrices(self._get_matrix(each), matrix), depth + 1)
            elif kind in (pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_SHADING) and (box := self._get_bounds(each)):
                self.graphics.pictures.append(_transform_box(box, matrix))

    def _visit_path(self, path: Any, matrix: tuple[float, ...]) -> None:
        filled, stroked = ctypes.c_int(), ctypes.c_int()
        if not self._pdfium.FPDFPath_GetDrawMode(path, filled, stroked) or not (filled.value or stroked.value):
            return
        own = _multiply_matrices(self._get_matrix(path), matrix)
        if filled.value and (box := self._get_bounds(path)):
            box = _transform_box(box, matrix)
            if min(box.right - box.left, box.top - box.bottom) > MAX_RULE_WIDTH_PT:
                if self._is_opaque_fill(path):
                    self.graphics.surfaces.append(box)
            elif not stroked.value:
                self.graphics.add_rule(box)
        if stroked.value:
            for box in self._iter_segments(path, own):
                self.graphics.add_rule(box)

    def _iter_segments(self, path: Any, matrix: tuple[float, ...]) -> Iterator[Box]:
        """The straight lines of a path."""
        max_segments = 4_000  # of one path
        pdfium, x, y = self._pdfium, ctypes.c_float(), ctypes.c_float()
        start = before = (0.0, 0.0)
        for at in range(min(max_segments, pdfium.FPDFPath_CountSegments(path))):
            segment = pdfium.FPDFPath_GetPathSegment(path, at)
            pdfium.FPDFPathSegment_GetPoint(segment, x, y)
            place = _apply_matrix(x.value, y.value, matrix)
            kind = pdfium.FPDFPathSegment_GetType(segment)
            if kind == pdfium.FPDF_SEGMENT_MOVETO:
                start = place
            elif kind == pdfium.FPDF_SEGMENT_LINETO:
                yield _build_box(before, place)
            if pdfium.FPDFPathSegment_GetClose(segment):
                yield _build_box(place, start)
            before = place

    def _is_opaque_fill(self, path: Any) -> bool:
        min_opaque_alpha = 128  # of 255: ink that lets more than half of the paper through hides nothing
        min_white = 250  # of 255, from which paper and ink are the same to a reader
        colours = [ctypes.c_uint() for _ in range(4)]
        if not self._pdfium.FPDFPageObj_GetFillColor(path, *colours):
            return True  # a pattern or a shading
        *ink, alpha = (colour.value for colour in colours)
        return alpha >= min_opaque_alpha and min(ink) < min_white

    def _get_bounds(self, each: Any) -> Box | None:
        edges = [ctypes.c_float() for _ in range(4)]
        return Box(*(edge.value for edge in edges)) if self._pdfium.FPDFPageObj_GetBounds(each, *edges) else None

    def _get_matrix(self, each: Any) -> tuple[float, ...]:
        found = self._pdfium.FS_MATRIX()
        self._pdfium.FPDFPageObj_GetMatrix(each, found)
        return found.a, found.b, found.c, found.d, found.e, found.f


def _apply_matrix(x: float, y: float, matrix: tuple[float, ...]) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def _multiply_matrices(inner: tuple[float, ...], outer: tuple[float, ...]) -> tuple[float, ...]:
    """The one after the other (ISO 32000-1 section 8.3.4)."""
    a, b, c, d, e, f = inner
    origin = _apply_matrix(e, f, outer)
    across, up = _apply_matrix(a, b, (*outer[:4], 0, 0)), _apply_matrix(c, d, (*outer[:4], 0, 0))
    return *across, *up, *origin


def _build_box(one: tuple[float, float], other: tuple[float, float]) -> Box:
    return Box(min(one[0], other[0]), min(one[1], other[1]), max(one[0], other[0]), max(one[1], other[1]))


def _transform_box(box: Box, matrix: tuple[float, ...]) -> Box:
    return _build_box(_apply_matrix(box.left, box.bottom, matrix), _apply_matrix(box.right, box.top, matrix))
