"""Tables of a PDF page that are ruled: their cells by the lines between them, those that are merged in each place."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from outrider.pages.readers.pdf_layout.graphics import Box, PageGraphics

SNAP_DISTANCE_PT = 2.5  # points between rules that are one, or meet
MAX_RULES = 600  # of a page that are looked at: a drawing has more


@dataclass(frozen=True)
class RuledGrid:
    """A ruled table: the places of its upright rules from left to right and of its level ones from top to bottom."""

    columns: tuple[float, ...]
    rows: tuple[float, ...]
    graphics: PageGraphics

    @property
    def box(self) -> Box:
        return Box(self.columns[0], self.rows[-1], self.columns[-1], self.rows[0])

    def read_cells(self, read: Callable[[Box], str]) -> list[list[str]]:
        """The cells' texts row by row; what spans several stands in each of them.

        Args:
            read: The text in a rectangle.
        """
        regions = self._group_merged_cells()
        known = {region: read(self._compute_text_box(cells)) for region, cells in regions.items()}
        places = {cell: known[region] for region, cells in regions.items() for cell in cells}
        wide, high = len(self.columns) - 1, len(self.rows) - 1
        return [[places[row, column] for column in range(wide)] for row in range(high)]

    def _group_merged_cells(self) -> dict[int, list[tuple[int, int]]]:
        """The cells that no rule divides, together."""
        wide, high = len(self.columns) - 1, len(self.rows) - 1
        first = list(range(wide * high))  # of each cell another one of its region, or itself

        def find_root(cell: int) -> int:
            while first[cell] != cell:
                first[cell] = cell = first[first[cell]]
            return cell

        for at in range(wide * high):
            row, column = divmod(at, wide)
            top, bottom, left, right = *self.rows[row : row + 2], *self.columns[column : column + 2]
            if column + 1 < wide and not _is_covered(self.graphics.vertical_rules, right, bottom, top, upright=True):
                first[find_root(at + 1)] = find_root(at)
            if row + 1 < high and not _is_covered(self.graphics.horizontal_rules, bottom, left, right, upright=False):
                first[find_root(at + wide)] = find_root(at)
        found: dict[int, list[tuple[int, int]]] = {}
        for at in range(wide * high):
            found.setdefault(find_root(at), []).append(divmod(at, wide))
        return found

    def _compute_text_box(self, cells: list[tuple[int, int]]) -> Box:
        inset_pt = 1.0  # points within a cell's rules where its text begins
        rows, columns = [row for row, _ in cells], [column for _, column in cells]
        return Box(
            self.columns[min(columns)] + inset_pt,
            self.rows[max(rows) + 1] + inset_pt,
            self.columns[max(columns) + 1] - inset_pt,
            self.rows[min(rows)] - inset_pt,
        )


def find_grids(graphics: PageGraphics) -> list[RuledGrid]:
    """The tables that rules make; none of a page that has too many to be tables."""
    max_cells = 10_000
    upright, level = (
        _join_rules(graphics.vertical_rules, upright=True),
        _join_rules(graphics.horizontal_rules, upright=False),
    )
    if not 3 < len(upright) + len(level) <= MAX_RULES:
        return []
    found = []
    for up, across in _group_touching_rules(upright, level):
        columns = _merge_positions(box.left for box in up)
        rows = _merge_positions(box.bottom for box in across)[::-1]
        if len(columns) > 2 and len(rows) > 1 and len(columns) * len(rows) <= max_cells:
            found.append(RuledGrid(tuple(columns), tuple(rows), PageGraphics(up, across)))
    return [grid for grid in found if not any(_is_inside(grid.box, other.box) for other in found if other is not grid)]


def _join_rules(rules: list[Box], *, upright: bool) -> list[Box]:
    """The rules, those that go on in one another as one: many programs draw each side of each cell."""
    found: list[Box] = []
    along = (lambda box: (box.left, box.bottom)) if upright else (lambda box: (box.bottom, box.left))
    for box in sorted(rules, key=along)[: 20 * MAX_RULES]:
        last = found[-1] if found else None
        at = abs((box.left - last.left) if upright else (box.bottom - last.bottom)) if last else SNAP_DISTANCE_PT
        if last and at < 0.5 and _is_touching(last, box):
            found[-1] = Box(last.left, last.bottom, max(last.right, box.right), max(last.top, box.top))
        else:
            found.append(box)
    return found


def _group_touching_rules(upright: list[Box], level: list[Box]) -> list[tuple[list[Box], list[Box]]]:
    """The rules in groups that touch one another."""
    rules = [(box, True) for box in upright] + [(box, False) for box in level]
    groups: list[list[tuple[Box, bool]]] = []
    for rule in rules:
        touched = [group for group in groups if any(_is_touching(rule[0], box) for box, _ in group)]
        groups = [group for group in groups if group not in touched]
        groups.append([rule, *(each for group in touched for each in group)])
    return [([box for box, is_up in group if is_up], [box for box, is_up in group if not is_up]) for group in groups]


def _is_touching(one: Box, other: Box) -> bool:
    return (
        one.left <= other.right + SNAP_DISTANCE_PT
        and other.left <= one.right + SNAP_DISTANCE_PT
        and one.bottom <= other.top + SNAP_DISTANCE_PT
        and other.bottom <= one.top + SNAP_DISTANCE_PT
    )


def _merge_positions(values: Iterable[float]) -> list[float]:
    """The places without those that are next to one another."""
    found: list[float] = []
    for value in sorted(values):
        if not found or value - found[-1] > SNAP_DISTANCE_PT:
            found.append(value)
    return found


def _is_covered(rules: list[Box], place: float, start: float, end: float, *, upright: bool) -> bool:
    """Whether rules at a place run along most of a stretch."""
    min_coverage = 0.8  # of a cell's side that a rule must run along to divide it from the next
    pieces = sorted(
        (max(start, low), min(end, high))
        for box in rules
        for at, low, high in [(box.left, box.bottom, box.top) if upright else (box.bottom, box.left, box.right)]
        if abs(at - place) <= SNAP_DISTANCE_PT and high > start and low < end
    )
    covered, reach = 0.0, start
    for low, high in pieces:
        covered += max(0.0, high - max(low, reach))
        reach = max(reach, high)
    return covered >= min_coverage * (end - start)


def _is_inside(one: Box, other: Box) -> bool:
    return (
        other.left - SNAP_DISTANCE_PT <= one.left
        and one.right <= other.right + SNAP_DISTANCE_PT
        and other.bottom - SNAP_DISTANCE_PT <= one.bottom
        and one.top <= other.top + SNAP_DISTANCE_PT
    )
