"""Columns of a PDF table: their positions, and the cells of a line that belong to them."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from statistics import mean

from outrider.pages.readers.pdf_layout.line import PdfCell, PdfLine

NUMERIC_CELL = re.compile(
    r"[-–—−]|n/?[am]|(?=.*\d)[\s$€£¥%()+\-–−.,:/±'’\d*]{1,24}(?:%|x|bn|m|k|pp)?[)*]?", re.IGNORECASE
)


def is_number(cell: PdfCell) -> bool:
    return len(cell.text) < 32 and NUMERIC_CELL.fullmatch(cell.text) is not None


@dataclass(frozen=True)
class TableColumns:
    """The left and right edges of columns that do not overlap, from left to right."""

    spans: tuple[tuple[float, float], ...]

    @cached_property
    def lefts(self) -> list[float]:
        return [left for left, _ in self.spans]

    @cached_property
    def rights(self) -> list[float]:
        return [right for _, right in self.spans]

    def place_cells(self, line: PdfLine) -> list[int] | None:
        """Return the column of each cell; None if a cell is in several, or a column holds several."""
        places: list[int] = []
        for cell in line.cells:
            first, last = bisect_right(self.rights, cell.left), bisect_left(self.lefts, cell.right) - 1
            if last > first:
                return None
            if last < first:  # it is between two columns, or outside all
                edge_columns = [at for at in (last, first) if 0 <= at < len(self.spans)]
                gaps = [max(self.lefts[at] - cell.right, cell.left - self.rights[at]) for at in edge_columns]
                first = edge_columns[gaps.index(min(gaps))]
            places.append(first)
        return places if len(set(places)) == len(places) else None

    def split_cells(self, line: PdfLine) -> PdfLine:
        """Split cells that are too close to one another at the columns of other rows."""
        max_space_shift = 4  # characters between the expected and the real place of a space
        if len(line.cells) < 2 or not len(self.spans) <= 2 * len(line.cells) < 2 * len(self.spans):
            return line
        cells: list[PdfCell] = []
        for cell in line.cells:
            rest = cell
            covered = [(start, end) for start, end in self.spans if start < cell.right and cell.left < end]
            for (_, end), (start, _) in pairwise(covered):
                width = max((rest.right - rest.left) / max(1, len(rest.text)), 0.1)
                expected = ((start + end) / 2 - rest.left) / width
                spaces = (index for index, char in enumerate(rest.text) if char == " ")
                nearest = min(spaces, key=lambda index, expected=expected: abs(index - expected), default=None)
                if nearest is not None and abs(nearest - expected) <= max_space_shift:
                    middle = rest.left + nearest * width
                    cells.append(PdfCell(rest.text[:nearest].strip(), rest.left, min(end, middle)))
                    rest = PdfCell(rest.text[nearest:].strip(), max(start, middle), rest.right)
            cells.append(rest)
        return replace(line, cells=tuple(cells)) if len(cells) > len(line.cells) else line

    def spread_head(self, cells: tuple[PdfCell, ...]) -> list[str]:
        """Return the text above each column; a cell that is centered over several columns is repeated."""
        centers = [(left + right) / 2 for left, right in self.spans]
        middles = [(cell.left + cell.right) / 2 for cell in cells]
        pitch = mean(after - before for before, after in pairwise(centers))
        reach = 1.1 * pitch * max(1.0, len(centers) / len(cells)) / 2
        # A lone cell is only repeated if it is centered over all columns but the first.
        if len(cells) == 1 and abs(middles[0] - (self.lefts[1] + self.rights[-1]) / 2) > 0.6 * pitch:
            reach = 0
        texts = [""] * len(centers)
        for cell, middle in zip(cells, middles, strict=True):
            nearest = min(range(len(centers)), key=lambda column: abs(centers[column] - middle))
            texts[nearest] = f"{texts[nearest]} {cell.text}".strip()
        if 2 * len(cells) > len(centers) + 1:  # each has its own column
            return texts
        for column, center in enumerate(centers):
            at = min(range(len(cells)), key=lambda at: abs(middles[at] - center))
            is_over = cells[at].left < self.rights[column] and self.lefts[column] < cells[at].right
            if not texts[column] and (is_over or abs(middles[at] - center) <= reach):
                texts[column] = cells[at].text
        return texts


def find_columns(lines: list[PdfLine]) -> TableColumns | None:
    """Return the columns that most lines fit.

    The candidates are those of lines with equally many cells.
    """
    max_candidates = 8
    gapped = [line for line in lines if len(line.cells) > 1]
    counts = Counter(len(line.cells) for line in gapped).most_common(max_candidates)
    candidates = [_merge_cell_spans([line for line in gapped if len(line.cells) == count]) for count, _ in counts]

    def score_columns(columns: TableColumns) -> tuple[int, int]:
        fit = sum(len(line.cells) * (1 if columns.place_cells(line) else -1) for line in gapped)
        return fit, -len(columns.spans)

    return max((columns for columns in candidates if len(columns.spans) > 1), key=score_columns, default=None)


def _merge_cell_spans(lines: list[PdfLine]) -> TableColumns:
    """Return the columns that the union of all cells forms."""
    spans: list[tuple[float, float]] = []
    for left, right in sorted((cell.left, cell.right) for line in lines for cell in line.cells):
        if spans and left <= spans[-1][1]:
            spans[-1] = spans[-1][0], max(spans[-1][1], right)
        else:
            spans.append((left, right))
    return TableColumns(tuple(spans))
