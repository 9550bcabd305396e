"""Tables of a PDF page without rules that hold figures: statements of accounts, and what is set like them.

Their rows have a label and figures that end below one another; labels go on over several lines, some stand alone
above a part of the table, and the head has years or periods and no word over the labels. So the figures tell the
table: lines between two rows of them that stand under the labels belong to it, and so do those above that stand
over the figures.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from outrider.pages.readers.pdf_layout.line import PdfCell, PdfLine

NUMERIC_CELL = re.compile(r"[-–—−]|n/?[am]|(?=.*\d)[\s$€£¥%()+\-–−.,'’\d*]{1,24}(?:%|x|bn|m|k|pp)?[)*]?", re.IGNORECASE)
CURRENCY_SIGN = re.compile(r"[$€£¥]\s*\(?")
CLOSING_SIGNS = re.compile(r"[)%*]{1,3}")
MIN_NUMERIC_COLUMNS = 2  # of figures that such a table has at least
MAX_LINE_GAP_EM = 2.4  # of the type size: a wider gap between lines ends the table
MAX_LABEL_LINES = 3  # lines under the labels that follow one another
MAX_LABEL_CHARS = 160  # characters of a label's line


def merge_numeric_tables(lines: list[PdfLine]) -> list[PdfLine]:
    """The lines, those of such tables as one line each that holds the rows."""
    found: list[PdfLine] = []
    lines = [_join_number_signs(line) for line in lines]
    at = 0
    while at < len(lines):
        table = _NumericTable(lines, at) if _is_numeric_row(lines[at]) else None
        if table is None or not table.is_table:
            found.append(lines[at])
            at += 1
            continue
        heads = table.take_head_lines(found)
        del found[len(found) - table.lines_above :]
        found.append(table.build_line(heads))
        at = table.end
    return found


def _join_number_signs(line: PdfLine) -> PdfLine:
    """The line, its signs of currency and closing brackets with the figures that they belong to."""
    if len(line.cells) < MIN_NUMERIC_COLUMNS + 1 or line.table_rows:
        return line
    cells: list[PdfCell] = []
    for cell in line.cells:
        last = cells[-1] if cells else None
        if last and len(cells) > 1 and (CURRENCY_SIGN.fullmatch(last.text) or CLOSING_SIGNS.fullmatch(cell.text)):
            cells[-1] = PdfCell(f"{last.text}{cell.text}", last.left, cell.right)
        else:
            cells.append(cell)
    return replace(line, cells=tuple(cells)) if len(cells) < len(line.cells) else line


def _is_numeric_row(line: PdfLine) -> bool:
    """Whether a line has a label and at least two figures behind it, and nothing else."""
    return (
        len(line.cells) > MIN_NUMERIC_COLUMNS
        and not (line.table_rows or line.rotated or line.monospaced)
        and not NUMERIC_CELL.fullmatch(line.cells[0].text)
        and len(line.cells[0].text) <= MAX_LABEL_CHARS
        and all(NUMERIC_CELL.fullmatch(cell.text) for cell in line.cells[1:])
    )


@dataclass
class _NumericTable:
    """The rows from a line on, as far as they go."""

    lines: list[PdfLine]
    start: int
    end: int = 0
    taken: list[PdfLine] = field(default_factory=list)
    right_edges: list[float] = field(default_factory=list)
    lines_above: int = 0  # lines before it that belong to it

    def __post_init__(self) -> None:
        first = self.lines[self.start]
        self.size, self.label = first.size, first.cells[0].left
        alone: list[PdfLine] = []
        for line in self.lines[self.start :]:
            last = (alone or self.taken or [line])[-1]
            if line is not first and not 0 <= last.bottom - line.top + self.size < (1 + MAX_LINE_GAP_EM) * self.size:
                break
            if _is_numeric_row(line) and self._is_aligned(line):
                self.taken += [*alone, line]
                alone = []
            elif self._is_label_line(line) and len(alone) < MAX_LABEL_LINES:
                alone.append(line)
            else:
                break
        if alone and self.taken and _is_label_continuation(alone[0], self.taken[-1]):
            self.taken.append(alone[0])
        self.end = self.start + len(self.taken)
        self.left_edges = self._find_column_starts([line for line in self.taken if _is_numeric_row(line)])

    def _find_column_starts(self, rows: list[PdfLine]) -> list[float]:
        """How far left the figures of each column reach."""
        cells = [cell for line in rows for cell in line.cells[1:]]
        return [
            min((cell.left for cell in cells if self._find_column(cell) == at), default=edge)
            for at, edge in enumerate(self.right_edges)
        ]

    @property
    def is_table(self) -> bool:
        """Whether it is a table that gaps alone do not tell: one with lines that hold no figures."""
        min_rows = 3  # with figures
        rows = sum(_is_numeric_row(line) for line in self.taken)
        before = self.lines[self.start - 1] if self.start else None
        return rows >= min_rows and (rows < len(self.taken) or (before is not None and self._is_label_line(before)))

    def _is_aligned(self, line: PdfLine) -> bool:
        """Whether the figures end where the ones above do; a first row tells where, a fuller one tells more."""
        max_misalignment_em = (
            1.1  # of the type size by which figures of a column end apart at most: a bracket hangs over
        )
        ends = [cell.right for cell in line.cells[1:]]
        if not self.right_edges:
            self.right_edges = ends
            return True
        slack = max_misalignment_em * self.size
        if all(min(abs(end - edge) for edge in self.right_edges) <= slack for end in ends):
            return True
        if all(min(abs(end - edge) for end in ends) <= slack for edge in self.right_edges):
            self.right_edges = ends
            return True
        return False

    def _is_label_line(self, line: PdfLine) -> bool:
        """Whether a line stands under the labels, and short of the figures."""
        max_indent_em = 6.0  # of the type size by which labels begin apart at most
        return (
            len(line.cells) == 1
            and not (line.table_rows or line.rotated or line.monospaced)
            and abs(line.left - self.label) <= max_indent_em * self.size
            and line.right < self.right_edges[0] - self.size
            and len(line.text) <= MAX_LABEL_CHARS
            and abs(line.size - self.size) <= 0.2 * self.size
        )

    def _find_column(self, cell: PdfCell) -> int:
        return min(range(len(self.right_edges)), key=lambda at: abs(self.right_edges[at] - cell.right))

    def take_head_lines(self, before: list[PdfLine]) -> list[PdfLine]:
        """The lines above that stand over the figures; labels between them and the first row become rows."""
        max_head_lines = 3  # lines of a head
        labels = self._take_lines_above(before, self._is_label_line, MAX_LABEL_LINES)
        rest = before[: len(before) - len(labels)]
        heads = self._take_lines_above(rest, self._is_head_line, max_head_lines, (labels or self.taken)[0])
        if not any(len(line.cells) > 1 for line in heads):
            heads = []
            labels = labels[-1:] if labels and self._is_label_full(labels[-1], self.taken[0]) else []
        self.taken = [*labels, *self.taken]
        self.lines_above = len(labels) + len(heads)
        return heads

    def _take_lines_above(
        self, before: list[PdfLine], fits: Callable[[PdfLine], bool], most: int, below: PdfLine | None = None
    ) -> list[PdfLine]:
        """The last lines that fit, each close above the next."""
        found: list[PdfLine] = []
        last = below or self.taken[0]
        for line in reversed(before[-most:]):
            if not 0 <= line.bottom - last.top + self.size < (1 + MAX_LINE_GAP_EM) * self.size or not fits(line):
                break
            found.insert(0, line)
            last = line
        return found

    def _is_head_line(self, line: PdfLine) -> bool:
        max_head_chars = 40  # characters of one of its cells
        left = min(self.left_edges) - 4 * self.size
        over = [cell for cell in line.cells if cell.right > left]
        return (
            bool(over)
            and not (line.table_rows or line.rotated or line.monospaced)
            and all(len(cell.text) <= max_head_chars for cell in line.cells)
            and len(line.cells) - len(over) <= 1
            and all(cell.left > left for cell in over)
        )

    def build_line(self, heads: list[PdfLine]) -> PdfLine:
        """The table in one line."""
        rows = [self._build_head_row(heads), *self._build_rows()]
        box = [*heads, *self.taken]
        cell = PdfCell("", min(line.left for line in box), max(line.right for line in box))
        bottom, top = min(line.bottom for line in box), max(line.top for line in box)
        return PdfLine((cell,), bottom, top, self.size, table_rows=tuple(map(tuple, rows)))

    def _build_head_row(self, heads: list[PdfLine]) -> list[str]:
        """What stands over each column, the lines of the head joined; what stands over several is in each."""
        columns = [""] * (len(self.right_edges) + 1)
        for line in heads:
            for at, text in self._spread_head_cells(line).items():
                columns[at] = f"{columns[at]} {text}".strip()
        return columns

    def _spread_head_cells(self, line: PdfLine) -> dict[int, str]:
        """The cells of a line of the head by the columns that they stand over; 0 that of the labels."""
        left = min(self.left_edges) - self.size
        found = {0: " ".join(cell.text for cell in line.cells if cell.right < left)}
        over = [cell for cell in line.cells if cell.right >= left]
        middles = [(low + high) / 2 for low, high in zip(self.left_edges, self.right_edges, strict=True)]
        if len(over) >= len(middles) or len(over) * 2 > len(middles) + 1:
            for cell in over:
                near = min(range(len(middles)), key=lambda at: abs(middles[at] - _compute_center(cell)))
                found[near + 1] = f"{found.get(near + 1, '')} {cell.text}".strip()
            return found
        for at, middle in enumerate(middles, 1):
            cell = min(over, key=lambda each: abs(_compute_center(each) - middle))
            if len(over) > 1 or self._is_cell_over(cell, at):
                found[at] = cell.text
        return found

    def _is_cell_over(self, cell: PdfCell, column: int) -> bool:
        """Whether a cell that stands alone is over a column: over all of them if it is in their middle."""
        low, high = min(self.left_edges), max(self.right_edges)
        centred = abs(_compute_center(cell) - (low + high) / 2) < 0.15 * (high - low)
        return centred or (cell.left < self.right_edges[column - 1] and cell.right > self.left_edges[column - 1])

    def _build_rows(self) -> list[list[str]]:
        rows: list[list[str]] = []
        begun = ""
        for line, after in zip(self.taken, [*self.taken[1:], None], strict=True):
            if not _is_numeric_row(line):
                if rows and not begun and _is_label_continuation(line, self._previous_line):
                    rows[-1][0] += f" {line.text}"
                elif after is not None and self._is_label_full(line, after):
                    begun = f"{begun} {line.text}".strip()
                else:
                    rows.append([f"{begun} {line.text}".strip(), *[""] * len(self.right_edges)])
                    begun = ""
            else:
                row = [f"{begun} {line.cells[0].text}".strip(), *[""] * len(self.right_edges)]
                begun = ""
                for cell in line.cells[1:]:
                    row[self._find_column(cell) + 1] = cell.text
                rows.append(row)
            self._previous_line = line
        return rows

    def _is_label_full(self, line: PdfLine, after: PdfLine) -> bool:
        """Whether a label's line was full: the next one's first word had no room behind it."""
        label = after.cells[0]
        if label.text[:1].islower() or line.hyphenated:
            return True
        widest = max(each.cells[0].right for each in self.taken)
        letter = (label.right - label.left) / max(1, len(label.text))
        word = len(label.text.split(" ", 1)[0]) + 1
        return line.right + word * letter > widest and line.text[-1] not in ".:" and not line.bold


def _is_label_continuation(line: PdfLine, above: PdfLine) -> bool:
    """Whether a line without figures goes on in the label above it: it begins small, and not at a new height."""
    return line.text[:1].islower() and above.bottom - line.top < 0.6 * line.size


def _compute_center(cell: PdfCell) -> float:
    return (cell.left + cell.right) / 2
