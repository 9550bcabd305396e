"""Tables of a PDF page that are ruled: their cells by the lines between them, those that are merged in each place."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from outrider.pages.readers.parts.pdf.drawn import Box, Drawn

NEAR = 2.5  # points between rules that are one, or meet
RULES = 600  # of a page that are looked at: a drawing has more
CELLS = 10_000
COVERED = 0.8  # of a cell's side that a rule must run along to divide it from the next
INSET = 1.0  # points within a cell's rules where its text begins


@dataclass(frozen=True)
class Grid:
    """A ruled table: the places of its upright rules from left to right and of its level ones from top to bottom."""

    columns: tuple[float, ...]
    rows: tuple[float, ...]
    drawn: Drawn

    @property
    def box(self) -> Box:
        return Box(self.columns[0], self.rows[-1], self.columns[-1], self.rows[0])

    def texts(self, read: Callable[[Box], str]) -> list[list[str]]:
        """The cells' texts row by row; what spans several stands in each of them.

        Args:
            read: The text in a rectangle.
        """
        regions = self._regions()
        known = {region: read(self._inside(cells)) for region, cells in regions.items()}
        places = {cell: known[region] for region, cells in regions.items() for cell in cells}
        wide, high = len(self.columns) - 1, len(self.rows) - 1
        return [[places[row, column] for column in range(wide)] for row in range(high)]

    def _regions(self) -> dict[int, list[tuple[int, int]]]:
        """The cells that no rule divides, together."""
        wide, high = len(self.columns) - 1, len(self.rows) - 1
        first = list(range(wide * high))  # of each cell another one of its region, or itself

        def root(cell: int) -> int:
            while first[cell] != cell:
                first[cell] = cell = first[first[cell]]
            return cell

        for at in range(wide * high):
            row, column = divmod(at, wide)
            top, bottom, left, right = *self.rows[row : row + 2], *self.columns[column : column + 2]
            if column + 1 < wide and not _covers(self.drawn.upright, right, bottom, top, upright=True):
                first[root(at + 1)] = root(at)
            if row + 1 < high and not _covers(self.drawn.level, bottom, left, right, upright=False):
                first[root(at + wide)] = root(at)
        found: dict[int, list[tuple[int, int]]] = {}
        for at in range(wide * high):
            found.setdefault(root(at), []).append(divmod(at, wide))
        return found

    def _inside(self, cells: list[tuple[int, int]]) -> Box:
        rows, columns = [row for row, _ in cells], [column for _, column in cells]
        return Box(
            self.columns[min(columns)] + INSET,
            self.rows[max(rows) + 1] + INSET,
            self.columns[max(columns) + 1] - INSET,
            self.rows[min(rows)] - INSET,
        )


def grids(drawn: Drawn) -> list[Grid]:
    """The tables that rules make; none of a page that has too many to be tables."""
    upright, level = _joined(drawn.upright, upright=True), _joined(drawn.level, upright=False)
    if not 3 < len(upright) + len(level) <= RULES:
        return []
    found = []
    for up, across in _meeting(upright, level):
        columns = _places(box.left for box in up)
        rows = _places(box.bottom for box in across)[::-1]
        if len(columns) > 2 and len(rows) > 1 and len(columns) * len(rows) <= CELLS:
            found.append(Grid(tuple(columns), tuple(rows), Drawn(up, across)))
    return [grid for grid in found if not any(_within(grid.box, other.box) for other in found if other is not grid)]


def _joined(rules: list[Box], *, upright: bool) -> list[Box]:
    """The rules, those that go on in one another as one: many programs draw each side of each cell."""
    found: list[Box] = []
    along = (lambda box: (box.left, box.bottom)) if upright else (lambda box: (box.bottom, box.left))
    for box in sorted(rules, key=along)[: 20 * RULES]:
        last = found[-1] if found else None
        at = abs((box.left - last.left) if upright else (box.bottom - last.bottom)) if last else NEAR
        if last and at < 0.5 and _touch(last, box):
            found[-1] = Box(last.left, last.bottom, max(last.right, box.right), max(last.top, box.top))
        else:
            found.append(box)
    return found


def _meeting(upright: list[Box], level: list[Box]) -> list[tuple[list[Box], list[Box]]]:
    """The rules in groups that touch one another."""
    rules = [(box, True) for box in upright] + [(box, False) for box in level]
    groups: list[list[tuple[Box, bool]]] = []
    for rule in rules:
        touched = [group for group in groups if any(_touch(rule[0], box) for box, _ in group)]
        groups = [group for group in groups if group not in touched]
        groups.append([rule, *(each for group in touched for each in group)])
    return [([box for box, is_up in group if is_up], [box for box, is_up in group if not is_up]) for group in groups]


def _touch(one: Box, other: Box) -> bool:
    return (
        one.left <= other.right + NEAR
        and other.left <= one.right + NEAR
        and one.bottom <= other.top + NEAR
        and other.bottom <= one.top + NEAR
    )


def _places(values: Iterable[float]) -> list[float]:
    """The places without those that are next to one another."""
    found: list[float] = []
    for value in sorted(values):
        if not found or value - found[-1] > NEAR:
            found.append(value)
    return found


def _covers(rules: list[Box], place: float, start: float, end: float, *, upright: bool) -> bool:
    """Whether rules at a place run along most of a stretch."""
    pieces = sorted(
        (max(start, low), min(end, high))
        for box in rules
        for at, low, high in [(box.left, box.bottom, box.top) if upright else (box.bottom, box.left, box.right)]
        if abs(at - place) <= NEAR and high > start and low < end
    )
    covered, reach = 0.0, start
    for low, high in pieces:
        covered += max(0.0, high - max(low, reach))
        reach = max(reach, high)
    return covered >= COVERED * (end - start)


def _within(one: Box, other: Box) -> bool:
    return (
        other.left - NEAR <= one.left
        and one.right <= other.right + NEAR
        and other.bottom - NEAR <= one.bottom
        and one.top <= other.top + NEAR
    )
