"""What is drawn on a PDF page besides its text: the rules of tables, pictures, and what is filled with colour."""

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

OBJECTS = 20_000  # of one page that are looked at: maps have more, and no tables
SEGMENTS = 4_000  # of one path
FORMS = 4  # forms within forms (ISO 32000-1 section 8.10)
THIN = 3.0  # points: a rectangle that is no thicker is a rule
SHORT = 6.0  # points: a rule that is no longer is a tick or a dash
WHITE = 250  # of 255, from which paper and ink are the same to a reader
OPAQUE = 128  # of 255: ink that lets more than half of the paper through hides nothing


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in points from the page's lower left corner."""

    left: float
    bottom: float
    right: float
    top: float

    def holds(self, x: float, y: float) -> bool:
        return self.left <= x <= self.right and self.bottom <= y <= self.top


@dataclass
class Drawn:
    """What is drawn on a page: upright and level rules, pictures, and surfaces that are not white."""

    upright: list[Box] = field(default_factory=list)
    level: list[Box] = field(default_factory=list)
    pictures: list[Box] = field(default_factory=list)
    surfaces: list[Box] = field(default_factory=list)

    def put(self, box: Box) -> None:
        """Takes a rule, if the rectangle is one."""
        wide, high = box.right - box.left, box.top - box.bottom
        if high <= THIN and wide > SHORT:
            self.level.append(box)
        elif wide <= THIN and high > SHORT:
            self.upright.append(box)

    def moved(self, place: Callable[[Box], Box]) -> "Drawn":
        """The same at other places."""
        if place(Box(0, 0, 1, 2)) == Box(0, 0, 1, 2):
            return self
        made = Drawn(pictures=[place(box) for box in self.pictures], surfaces=[place(box) for box in self.surfaces])
        for box in (*self.upright, *self.level):
            made.put(place(box))
        return made

    def behind(self, x: float, y: float) -> bool:
        """Whether something stands behind a place that white letters could be read on."""
        return any(box.holds(x, y) for box in (*self.pictures, *self.surfaces))


def drawn(page: Any) -> Drawn:
    """What is drawn on a page of pypdfium2."""
    return _Drawing(page.raw).found


class _Drawing:
    """Looks at the objects of a page."""

    def __init__(self, page: Any) -> None:
        import pypdfium2.raw as pdfium

        self._pdfium = pdfium
        self._left = OBJECTS
        self.found = Drawn()
        count = pdfium.FPDFPage_CountObjects(page)
        self._all((pdfium.FPDFPage_GetObject(page, at) for at in range(count)), (1, 0, 0, 1, 0, 0), 0)

    def _all(self, objects: Iterator[Any], matrix: tuple[float, ...], depth: int) -> None:
        pdfium = self._pdfium
        for each in objects:
            self._left -= 1
            if self._left < 0:
                return
            kind = pdfium.FPDFPageObj_GetType(each)
            if kind == pdfium.FPDF_PAGEOBJ_PATH:
                self._path(each, matrix)
            elif kind == pdfium.FPDF_PAGEOBJ_FORM and depth < FORMS:
                count = pdfium.FPDFFormObj_CountObjects(each)
                inside = (pdfium.FPDFFormObj_GetObject(each, at) for at in range(count))
                self._all(inside, _times(self._matrix(each), matrix), depth + 1)
            elif kind in (pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_SHADING) and (box := self._bounds(each)):
                self.found.pictures.append(_moved(box, matrix))

    def _path(self, path: Any, matrix: tuple[float, ...]) -> None:
        filled, stroked = ctypes.c_int(), ctypes.c_int()
        if not self._pdfium.FPDFPath_GetDrawMode(path, filled, stroked) or not (filled.value or stroked.value):
            return
        own = _times(self._matrix(path), matrix)
        if filled.value and (box := self._bounds(path)):
            box = _moved(box, matrix)
            if min(box.right - box.left, box.top - box.bottom) > THIN:
                if self._is_dark(path):
                    self.found.surfaces.append(box)
            elif not stroked.value:
                self.found.put(box)
        if stroked.value:
            for box in self._segments(path, own):
                self.found.put(box)

    def _segments(self, path: Any, matrix: tuple[float, ...]) -> Iterator[Box]:
        """The straight lines of a path."""
        pdfium, x, y = self._pdfium, ctypes.c_float(), ctypes.c_float()
        start = before = (0.0, 0.0)
        for at in range(min(SEGMENTS, pdfium.FPDFPath_CountSegments(path))):
            segment = pdfium.FPDFPath_GetPathSegment(path, at)
            pdfium.FPDFPathSegment_GetPoint(segment, x, y)
            place = _at(x.value, y.value, matrix)
            kind = pdfium.FPDFPathSegment_GetType(segment)
            if kind == pdfium.FPDF_SEGMENT_MOVETO:
                start = place
            elif kind == pdfium.FPDF_SEGMENT_LINETO:
                yield _between(before, place)
            if pdfium.FPDFPathSegment_GetClose(segment):
                yield _between(place, start)
            before = place

    def _is_dark(self, path: Any) -> bool:
        colours = [ctypes.c_uint() for _ in range(4)]
        if not self._pdfium.FPDFPageObj_GetFillColor(path, *colours):
            return True  # a pattern or a shading
        *ink, alpha = (colour.value for colour in colours)
        return alpha >= OPAQUE and min(ink) < WHITE

    def _bounds(self, each: Any) -> Box | None:
        edges = [ctypes.c_float() for _ in range(4)]
        return Box(*(edge.value for edge in edges)) if self._pdfium.FPDFPageObj_GetBounds(each, *edges) else None

    def _matrix(self, each: Any) -> tuple[float, ...]:
        found = self._pdfium.FS_MATRIX()
        self._pdfium.FPDFPageObj_GetMatrix(each, found)
        return found.a, found.b, found.c, found.d, found.e, found.f


def _at(x: float, y: float, matrix: tuple[float, ...]) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def _times(inner: tuple[float, ...], outer: tuple[float, ...]) -> tuple[float, ...]:
    """The one after the other (ISO 32000-1 section 8.3.4)."""
    a, b, c, d, e, f = inner
    origin = _at(e, f, outer)
    across, up = _at(a, b, (*outer[:4], 0, 0)), _at(c, d, (*outer[:4], 0, 0))
    return *across, *up, *origin


def _between(one: tuple[float, float], other: tuple[float, float]) -> Box:
    return Box(min(one[0], other[0]), min(one[1], other[1]), max(one[0], other[0]), max(one[1], other[1]))


def _moved(box: Box, matrix: tuple[float, ...]) -> Box:
    return _between(_at(box.left, box.bottom, matrix), _at(box.right, box.top, matrix))
