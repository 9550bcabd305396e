"""Collect the graphics of a PDF page: rules, pictures and colored areas."""

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pypdfium2.raw as pdfium

MAX_RULE_WIDTH_PT = 3.0  # thicker rectangles are areas


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in points from the page's lower left corner."""

    left: float
    bottom: float
    right: float
    top: float

    @property
    def center(self) -> tuple[float, float]:
        return (self.left + self.right) / 2, (self.bottom + self.top) / 2

    def contains(self, x: float, y: float) -> bool:
        return self.left <= x <= self.right and self.bottom <= y <= self.top


@dataclass
class PageGraphics:
    """The graphics of a page: rules, pictures, and filled areas that are not white.

    Attributes:
        text_objects: PDFium's handles of the first pieces of text.
    """

    vertical_rules: list[Box] = field(default_factory=list)
    horizontal_rules: list[Box] = field(default_factory=list)
    pictures: list[Box] = field(default_factory=list)
    surfaces: list[Box] = field(default_factory=list)
    text_objects: list[Any] = field(default_factory=list)

    def add_rule(self, box: Box) -> None:
        """Add a rectangle if it is a rule."""
        min_rule_length_pt = 6.0  # shorter ones are ticks or dashes
        width, height = box.right - box.left, box.top - box.bottom
        if height <= MAX_RULE_WIDTH_PT and width > min_rule_length_pt:
            self.horizontal_rules.append(box)
        elif width <= MAX_RULE_WIDTH_PT and height > min_rule_length_pt:
            self.vertical_rules.append(box)

    def transform(self, convert: Callable[[Box], Box]) -> "PageGraphics":
        """Return the graphics with their boxes converted to other coordinates."""
        if convert(Box(0, 0, 1, 2)) == Box(0, 0, 1, 2):
            return self
        pictures, surfaces = [*map(convert, self.pictures)], [*map(convert, self.surfaces)]
        transformed = PageGraphics(pictures=pictures, surfaces=surfaces, text_objects=self.text_objects)
        for box in (*self.vertical_rules, *self.horizontal_rules):
            transformed.add_rule(convert(box))
        return transformed

    def has_background(self, x: float, y: float) -> bool:
        """Return whether white letters could be read at a point, on a picture or a colored area."""
        return any(box.contains(x, y) for box in (*self.pictures, *self.surfaces))


def collect_graphics(page: Any) -> PageGraphics:
    """Return the graphics of a page of pypdfium2."""
    return _GraphicsCollector(page.raw).graphics


class _GraphicsCollector:
    """Visit the objects of a page."""

    def __init__(self, page: Any) -> None:
        max_objects = 20_000  # maps have more, and no tables

        self._objects_left = max_objects
        self.graphics = PageGraphics()
        count = pdfium.FPDFPage_CountObjects(page)
        objects = (pdfium.FPDFPage_GetObject(page, number) for number in range(count))
        self._visit_objects(objects, (1, 0, 0, 1, 0, 0), 0)

    def _visit_objects(self, objects: Iterator[Any], matrix: tuple[float, ...], depth: int) -> None:
        max_text_objects = 2_000
        max_form_depth = 4  # nested form XObjects (ISO 32000-1 section 8.10)
        for page_object in objects:
            self._objects_left -= 1
            if self._objects_left < 0:
                return
            kind = pdfium.FPDFPageObj_GetType(page_object)
            if kind == pdfium.FPDF_PAGEOBJ_PATH:
                self._visit_path(page_object, matrix)
            elif kind == pdfium.FPDF_PAGEOBJ_TEXT:
                if len(self.graphics.text_objects) < max_text_objects:
                    self.graphics.text_objects.append(page_object)
            elif kind == pdfium.FPDF_PAGEOBJ_FORM and depth < max_form_depth:
                count = pdfium.FPDFFormObj_CountObjects(page_object)
                children = (pdfium.FPDFFormObj_GetObject(page_object, number) for number in range(count))
                self._visit_objects(children, _multiply_matrices(self._get_matrix(page_object), matrix), depth + 1)
            elif kind in (pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_SHADING):
                box = self._get_bounds(page_object)
                self.graphics.pictures += [_transform_box(box, matrix)] if box else []

    def _visit_path(self, path: Any, matrix: tuple[float, ...]) -> None:
        filled, stroked = ctypes.c_int(), ctypes.c_int()
        if not pdfium.FPDFPath_GetDrawMode(path, filled, stroked) or not (filled.value or stroked.value):
            return
        if filled.value and (box := self._get_bounds(path)):
            box = _transform_box(box, matrix)
            if min(box.right - box.left, box.top - box.bottom) > MAX_RULE_WIDTH_PT:
                if self._is_opaque_fill(path):
                    self.graphics.surfaces.append(box)
            elif not stroked.value:
                self.graphics.add_rule(box)
        if stroked.value:
            for box in self._iter_segments(path, _multiply_matrices(self._get_matrix(path), matrix)):
                self.graphics.add_rule(box)

    def _iter_segments(self, path: Any, matrix: tuple[float, ...]) -> Iterator[Box]:
        """Yield the straight segments of a path as boxes."""
        max_segments = 4_000
        x, y = ctypes.c_float(), ctypes.c_float()
        start = previous = (0.0, 0.0)
        for number in range(min(max_segments, pdfium.FPDFPath_CountSegments(path))):
            segment = pdfium.FPDFPath_GetPathSegment(path, number)
            pdfium.FPDFPathSegment_GetPoint(segment, x, y)
            point = _apply_matrix(x.value, y.value, matrix)
            kind = pdfium.FPDFPathSegment_GetType(segment)
            if kind == pdfium.FPDF_SEGMENT_MOVETO:
                start = point
            elif kind == pdfium.FPDF_SEGMENT_LINETO:
                yield _build_box(previous, point)
            if pdfium.FPDFPathSegment_GetClose(segment):
                yield _build_box(point, start)
            previous = point

    def _is_opaque_fill(self, path: Any) -> bool:
        """Return whether an area is filled with a color or pattern.

        White does not count.
        """
        min_alpha, min_white = 128, 250  # of 255
        colors = [ctypes.c_uint() for _ in range(4)]
        if not pdfium.FPDFPageObj_GetFillColor(path, *colors):
            return True  # a pattern or a shading
        *rgb, alpha = (color.value for color in colors)
        return alpha >= min_alpha and min(rgb) < min_white

    def _get_bounds(self, page_object: Any) -> Box | None:
        edges = [ctypes.c_float() for _ in range(4)]
        if not pdfium.FPDFPageObj_GetBounds(page_object, *edges):
            return None
        return Box(*(edge.value for edge in edges))

    def _get_matrix(self, page_object: Any) -> tuple[float, ...]:
        matrix = pdfium.FS_MATRIX()
        pdfium.FPDFPageObj_GetMatrix(page_object, matrix)
        return matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f


def _apply_matrix(x: float, y: float, matrix: tuple[float, ...]) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def _multiply_matrices(inner: tuple[float, ...], outer: tuple[float, ...]) -> tuple[float, ...]:
    """Return the matrix that applies `inner`, then `outer` (ISO 32000-1 section 8.3.4)."""
    a, b, c, d, e, f = inner
    origin = _apply_matrix(e, f, outer)
    across, up = _apply_matrix(a, b, (*outer[:4], 0, 0)), _apply_matrix(c, d, (*outer[:4], 0, 0))
    return *across, *up, *origin


def _build_box(one: tuple[float, float], other: tuple[float, float]) -> Box:
    return Box(min(one[0], other[0]), min(one[1], other[1]), max(one[0], other[0]), max(one[1], other[1]))


def _transform_box(box: Box, matrix: tuple[float, ...]) -> Box:
    return _build_box(_apply_matrix(box.left, box.bottom, matrix), _apply_matrix(box.right, box.top, matrix))
