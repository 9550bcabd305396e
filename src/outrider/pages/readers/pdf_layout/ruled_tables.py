"""Find a PDF page's tables by their rules, merged cells included."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise

from outrider.pages.readers.pdf_layout.graphics import Box, PageGraphics
from outrider.pages.readers.pdf_layout.table_columns import NUMERIC_CELL

Span = tuple[float, float]  # both ends of a rule

SNAP_DISTANCE_PT = 2.5  # between rules that join or touch
MAX_RULES = 600  # a page with more of them is a drawing


@dataclass(frozen=True)
class RuledGrid:
    """A ruled table: x of its vertical rules from left to right, y of its horizontal ones from the top."""

    columns: tuple[float, ...]
    rows: tuple[float, ...]
    graphics: PageGraphics

    @property
    def box(self) -> Box:
        return Box(self.columns[0], self.rows[-1], self.columns[-1], self.rows[0])

    def fit_to_text(self, pieces: list[tuple[Box, str]]) -> "RuledGrid":
        """Return the grid without empty open columns, and with a rule between lines of numbers.

        Args:
            pieces: The boxes and texts between wide gaps inside the grid.
        """
        columns = self.columns
        for side in (0, -1):
            low, high = sorted((columns[side], columns[1 if side == 0 else -2]))
            is_open = not any(
                abs(rule.left - columns[side]) <= SNAP_DISTANCE_PT for rule in self.graphics.vertical_rules
            )
            if is_open and not any(low < box.center[0] < high for box, _ in pieces):
                columns = columns[1:] if side == 0 else columns[:-1]
        pieces = sorted(pieces, key=lambda piece: piece[0].center[1])
        heights = [box.center[1] for box, _ in pieces]
        bands = (
            pieces[bisect_right(heights, bottom) : bisect_left(heights, top)] for top, bottom in pairwise(self.rows)
        )
        rules = [y for band in bands for y in self._divide_row(band)]
        horizontal = [*self.graphics.horizontal_rules, *(Box(columns[0], y, columns[-1], y) for y in rules)]
        rows = tuple(sorted((*self.rows, *rules), reverse=True))
        return RuledGrid(columns, rows, PageGraphics(self.graphics.vertical_rules, horizontal))

    def _divide_row(self, band: list[tuple[Box, str]]) -> list[float]:
        """Return where a row that holds a label and several lines of numbers is to be divided."""
        min_share = 0.7  # of the lines' places that hold numbers
        numbers = [(box, text) for box, text in band if box.center[0] > self.columns[1]]
        numeric = sum(NUMERIC_CELL.fullmatch(text) is not None for _, text in numbers)
        lines = _merge_positions(box.center[1] for box, _ in numbers)
        columns = {sum(edge < box.center[0] for edge in self.columns) for box, _ in numbers}
        is_full = len(numbers) >= min_share * len(lines) * len(columns)
        if len(lines) < 2 or not is_full or numeric < min_share * len(numbers):
            return []
        return [(lower + upper) / 2 for lower, upper in pairwise(_merge_positions(box.center[1] for box, _ in band))]

    def is_drawing(self, read_text: Callable[[Box], str], pieces: list[tuple[Box, str]]) -> bool:
        """Return whether vertical rules run through words.

        Rules of a graph do, and rules of a table do not.

        Args:
            read_text: Returns the text in a rectangle.
            pieces: The boxes and texts between wide gaps inside the grid.
        """
        max_cut_share = 0.1  # of the pieces
        near_pt, far_pt = 0.25, 1.0  # letters of a table may touch its rules
        cut = 0
        for box, _ in pieces:
            crossing = (
                rule.left
                for rule in self.graphics.vertical_rules
                if rule.bottom < box.center[1] < rule.top and box.left + far_pt < rule.left < box.right - far_pt
            )
            cut += any(
                read_text(Box(edge - far_pt, box.bottom, edge - near_pt, box.top))
                and read_text(Box(edge + near_pt, box.bottom, edge + far_pt, box.top))
                for edge in crossing
            )
        return cut > max_cut_share * len(pieces)

    def read_cells(self, read_text: Callable[[Box], str], pieces: list[tuple[Box, str]]) -> list[list[str]]:
        """Return the cells' texts by row; none if not a table.

        A merged cell's text is repeated.

        Args:
            read_text: Returns the text in a rectangle.
            pieces: The boxes and texts between wide gaps inside the grid.
        """
        min_filled_share = 0.25  # of the cells, merged ones counted once; drawings have fewer
        max_gapped_lines = 2  # in a cell
        placed: dict[tuple[int, int], list[tuple[Box, str]]] = {}
        heights = [-height for height in self.rows]
        for box, text in pieces:
            x, y = box.center
            cell = bisect_right(heights, -y) - 1, bisect_right(self.columns, x) - 1
            placed.setdefault(cell, []).append((box, text))
        texts: dict[tuple[int, int], str] = {}
        filled = 0
        for cells in self._group_merged_cells():
            inside = [piece for cell in cells for piece in placed.get(cell, ())]
            columns = self._spread_pieces(cells, inside)
            counts = Counter(round(box.bottom) for box, text in inside if any(map(str.isalnum, text)))
            # Where text is itself arranged in columns, the cell is a frame around it.
            if not columns and sum(count > 1 for count in counts.values()) > max_gapped_lines:
                return []
            text = "" if columns else read_text(self._get_box(cells, inset=1.0))  # text may touch the rules
            texts |= {cell: columns.get(cell[1], text) for cell in cells}
            filled += sum(map(bool, columns.values())) or bool(text)
        if filled < min_filled_share * len(texts):
            return []
        return [[texts[row, column] for column in range(len(self.columns) - 1)] for row in range(len(self.rows) - 1)]

    def _get_box(self, cells: list[tuple[int, int]], inset: float) -> Box:
        rows, columns = [row for row, _ in cells], [column for _, column in cells]
        return Box(
            self.columns[min(columns)] + inset,
            self.rows[max(rows) + 1] + inset,
            self.columns[max(columns) + 1] - inset,
            self.rows[min(rows)] - inset,
        )

    def _spread_pieces(self, cells: list[tuple[int, int]], pieces: list[tuple[Box, str]]) -> dict[int, str]:
        """Return the texts of a merged cell by column, if they are in several columns.

        Many tables have vertical rules in their head only.
        """
        min_fitting_share = 0.7  # of the pieces; the others hang over into the next column
        if len({column for _, column in cells}) < 2:
            return {}
        texts: dict[int, list[str]] = {}
        fitting_count = 0
        for box, text in pieces:
            overhang = 0.25 * (box.right - box.left)
            column = sum(edge - overhang <= box.left for edge in self.columns) - 1
            fitting_count += box.right <= self.columns[column + 1] + overhang
            texts.setdefault(column, []).append(text)
        if len(texts) < 2 or fitting_count < min_fitting_share * len(pieces):
            return {}
        return {column: " ".join(texts.get(column, [])) for _, column in cells}

    def _group_merged_cells(self) -> list[list[tuple[int, int]]]:
        """Group cells, as row and column, that no rule divides, by union-find."""
        width, height = len(self.columns) - 1, len(self.rows) - 1
        parent = list(range(width * height))

        def find_root(cell: int) -> int:
            while parent[cell] != cell:
                parent[cell] = cell = parent[parent[cell]]
            return cell

        vertical = [(box.left, box.bottom, box.top) for box in self.graphics.vertical_rules]
        horizontal = [(box.bottom, box.left, box.right) for box in self.graphics.horizontal_rules]
        beside, below = _list_spans(self.columns, vertical), _list_spans(self.rows, horizontal)
        for cell in range(width * height):
            row, column = divmod(cell, width)
            top, bottom, left, right = *self.rows[row : row + 2], *self.columns[column : column + 2]
            if column + 1 < width and not _is_covered(beside[column + 1], bottom, top):
                parent[find_root(cell + 1)] = find_root(cell)
            if row + 1 < height and not _is_covered(below[row + 1], left, right):
                parent[find_root(cell + width)] = find_root(cell)
        groups: dict[int, list[tuple[int, int]]] = {}
        for cell in range(width * height):
            groups.setdefault(find_root(cell), []).append(divmod(cell, width))
        return list(groups.values())


def find_grids(graphics: PageGraphics) -> list[RuledGrid]:
    """Return the tables that rules form; none if the page has too many rules."""
    max_cells = 10_000
    vertical = _join_rules(graphics.vertical_rules, vertical=True)
    horizontal = _join_rules(graphics.horizontal_rules, vertical=False)
    if not 3 < len(vertical) + len(horizontal) <= MAX_RULES:
        return []
    groups: list[list[tuple[Box, bool]]] = []
    for rule in [*((box, True) for box in vertical), *((box, False) for box in horizontal)]:
        touched = [group for group in groups if any(_is_touching(rule[0], box) for box, _ in group)]
        groups = [group for group in groups if group not in touched]
        groups.append([rule, *(member for group in touched for member in group)])
    grids: list[RuledGrid] = []
    for group in groups:
        vertical_rules = [box for box, is_vertical in group if is_vertical]
        horizontal_rules = [box for box, is_vertical in group if not is_vertical]
        columns = _merge_positions(box.left for box in vertical_rules)
        if len(columns) > 1 and horizontal_rules:
            # Many tables have no vertical rules at their sides, where several rules end.
            left, right = min(box.left for box in horizontal_rules), max(box.right for box in horizontal_rules)
            ends = ([box.left - left for box in horizontal_rules], [right - box.right for box in horizontal_rules])
            open_edges = (
                edge
                for edge, distances in zip((left, right), ends, strict=True)
                if sum(distance <= SNAP_DISTANCE_PT for distance in distances) > 1
            )
            columns = _merge_positions([*columns, *open_edges])
        rows = _merge_positions(box.bottom for box in horizontal_rules)[::-1]
        if len(columns) > 2 and len(rows) > 1 and len(columns) * len(rows) <= max_cells:
            grids.append(RuledGrid(tuple(columns), tuple(rows), PageGraphics(vertical_rules, horizontal_rules)))
    return [grid for grid in grids if not any(_is_inside(grid.box, other.box) for other in grids if other is not grid)]


def _join_rules(rules: list[Box], *, vertical: bool) -> list[Box]:
    """Join rules that continue one another: many programs draw each side of each cell."""
    joined: list[Box] = []
    sort_key = (lambda box: (box.left, box.bottom)) if vertical else (lambda box: (box.bottom, box.left))
    for box in sorted(rules, key=sort_key)[: 20 * MAX_RULES]:
        last = joined[-1] if joined else None
        offset = abs((box.left - last.left) if vertical else (box.bottom - last.bottom)) if last else SNAP_DISTANCE_PT
        if last and offset < 0.5 and _is_touching(last, box):
            joined[-1] = Box(last.left, last.bottom, max(last.right, box.right), max(last.top, box.top))
        else:
            joined.append(box)
    return joined


def _is_touching(one: Box, other: Box) -> bool:
    return (
        one.left <= other.right + SNAP_DISTANCE_PT
        and other.left <= one.right + SNAP_DISTANCE_PT
        and one.bottom <= other.top + SNAP_DISTANCE_PT
        and other.bottom <= one.top + SNAP_DISTANCE_PT
    )


def _merge_positions(values: Iterable[float]) -> list[float]:
    """Sort positions, and merge those that are close to one another."""
    merged: list[float] = []
    for value in sorted(values):
        if not merged or value - merged[-1] > SNAP_DISTANCE_PT:
            merged.append(value)
    return merged


def _list_spans(positions: tuple[float, ...], rules: list[tuple[float, float, float]]) -> list[list[Span]]:
    """Return the spans of the rules at each position."""
    return [
        sorted((low, high) for at, low, high in rules if abs(at - position) <= SNAP_DISTANCE_PT)
        for position in positions
    ]


def _is_covered(spans: list[Span], start: float, end: float) -> bool:
    """Return whether rules cover most of the stretch between two cells.

    The rules are sorted by where they begin.
    """
    min_coverage = 0.8
    covered, reach = 0.0, start
    for low, high in spans:
        if high > start and low < end:
            covered += max(0.0, min(end, high) - max(low, reach))
            reach = max(reach, min(end, high))
    return covered >= min_coverage * (end - start)


def _is_inside(one: Box, other: Box) -> bool:
    return (
        other.left - SNAP_DISTANCE_PT <= one.left
        and one.right <= other.right + SNAP_DISTANCE_PT
        and other.bottom - SNAP_DISTANCE_PT <= one.bottom
        and one.top <= other.top + SNAP_DISTANCE_PT
    )
