"""Tables of a PDF page without rules that hold figures: statements of accounts, and what is set like them.

Their rows have a label and figures that end below one another; labels go on over several lines, some stand alone
above a part of the table, and the head has years or periods and no word over the labels. So the figures tell the
table: lines between two rows of them that stand under the labels belong to it, and so do those above that stand
over the figures.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from outrider.pages.readers.parts.pdf.line import Cell, Line

FIGURE = re.compile(r"[-–—−]|n/?[am]|(?=.*\d)[\s$€£¥%()+\-–−.,'’\d*]{1,24}(?:%|x|bn|m|k|pp)?[)*]?", re.IGNORECASE)
CURRENCY = re.compile(r"[$€£¥]\s*\(?")
TAIL = re.compile(r"[)%*]{1,3}")
COLUMNS = 2  # of figures that such a table has at least
ROWS = 3  # with figures
ALIGNED = 1.1  # of the type size by which figures of a column end apart at most: a bracket hangs over
APART = 2.4  # of the type size: a wider gap between lines ends the table
ALONE = 3  # lines under the labels that follow one another
HEADS = 3  # lines of a head
HEAD = 40  # characters of one of its cells
LABEL = 160  # characters of a label's line
INDENT = 6.0  # of the type size by which labels begin apart at most


def with_figures(lines: list[Line]) -> list[Line]:
    """The lines, those of such tables as one line each that holds the rows."""
    found: list[Line] = []
    lines = [_whole(line) for line in lines]
    at = 0
    while at < len(lines):
        table = _Table(lines, at) if _is_row(lines[at]) else None
        if table is None or not table.holds:
            found.append(lines[at])
            at += 1
            continue
        heads = table.heads(found)
        del found[len(found) - table.above :]
        found.append(table.line(heads))
        at = table.end
    return found


def _whole(line: Line) -> Line:
    """The line, its signs of currency and closing brackets with the figures that they belong to."""
    if len(line.cells) < COLUMNS + 1 or line.rows:
        return line
    cells: list[Cell] = []
    for cell in line.cells:
        last = cells[-1] if cells else None
        if last and len(cells) > 1 and (CURRENCY.fullmatch(last.text) or TAIL.fullmatch(cell.text)):
            cells[-1] = Cell(f"{last.text}{cell.text}", last.left, cell.right)
        else:
            cells.append(cell)
    return replace(line, cells=tuple(cells)) if len(cells) < len(line.cells) else line


def _is_row(line: Line) -> bool:
    """Whether a line has a label and at least two figures behind it, and nothing else."""
    return (
        len(line.cells) > COLUMNS
        and not (line.rows or line.aslant or line.mono)
        and not FIGURE.fullmatch(line.cells[0].text)
        and len(line.cells[0].text) <= LABEL
        and all(FIGURE.fullmatch(cell.text) for cell in line.cells[1:])
    )


@dataclass
class _Table:
    """The rows from a line on, as far as they go."""

    lines: list[Line]
    start: int
    end: int = 0
    taken: list[Line] = field(default_factory=list)
    edges: list[float] = field(default_factory=list)
    above: int = 0  # lines before it that belong to it

    def __post_init__(self) -> None:
        first = self.lines[self.start]
        self.size, self.label = first.size, first.cells[0].left
        alone: list[Line] = []
        for line in self.lines[self.start :]:
            last = (alone or self.taken or [line])[-1]
            if line is not first and not 0 <= last.bottom - line.top + self.size < (1 + APART) * self.size:
                break
            if _is_row(line) and self._fits(line):
                self.taken += [*alone, line]
                alone = []
            elif self._is_label(line) and len(alone) < ALONE:
                alone.append(line)
            else:
                break
        if alone and self.taken and _continues(alone[0], self.taken[-1]):
            self.taken.append(alone[0])
        self.end = self.start + len(self.taken)
        self.lefts = self._begins([line for line in self.taken if _is_row(line)])

    def _begins(self, rows: list[Line]) -> list[float]:
        """How far left the figures of each column reach."""
        cells = [cell for line in rows for cell in line.cells[1:]]
        return [
            min((cell.left for cell in cells if self._column(cell) == at), default=edge)
            for at, edge in enumerate(self.edges)
        ]

    @property
    def holds(self) -> bool:
        """Whether it is a table that gaps alone do not tell: one with lines that hold no figures."""
        rows = sum(_is_row(line) for line in self.taken)
        before = self.lines[self.start - 1] if self.start else None
        return rows >= ROWS and (rows < len(self.taken) or (before is not None and self._is_label(before)))

    def _fits(self, line: Line) -> bool:
        """Whether the figures end where the ones above do; a first row tells where, a fuller one tells more."""
        ends = [cell.right for cell in line.cells[1:]]
        if not self.edges:
            self.edges = ends
            return True
        slack = ALIGNED * self.size
        if all(min(abs(end - edge) for edge in self.edges) <= slack for end in ends):
            return True
        if all(min(abs(end - edge) for end in ends) <= slack for edge in self.edges):
            self.edges = ends
            return True
        return False

    def _is_label(self, line: Line) -> bool:
        """Whether a line stands under the labels, and short of the figures."""
        return (
            len(line.cells) == 1
            and not (line.rows or line.aslant or line.mono)
            and abs(line.left - self.label) <= INDENT * self.size
            and line.right < self.edges[0] - self.size
            and len(line.text) <= LABEL
            and abs(line.size - self.size) <= 0.2 * self.size
        )

    def _column(self, cell: Cell) -> int:
        return min(range(len(self.edges)), key=lambda at: abs(self.edges[at] - cell.right))

    def heads(self, before: list[Line]) -> list[Line]:
        """The lines above that stand over the figures; labels between them and the first row become rows."""
        labels = self._near(before, self._is_label, ALONE)
        rest = before[: len(before) - len(labels)]
        heads = self._near(rest, self._is_head, HEADS, (labels or self.taken)[0])
        if not any(len(line.cells) > 1 for line in heads):
            heads = []
            labels = labels[-1:] if labels and self._is_full(labels[-1], self.taken[0]) else []
        self.taken = [*labels, *self.taken]
        self.above = len(labels) + len(heads)
        return heads

    def _near(
        self, before: list[Line], fits: Callable[[Line], bool], most: int, below: Line | None = None
    ) -> list[Line]:
        """The last lines that fit, each close above the next."""
        found: list[Line] = []
        last = below or self.taken[0]
        for line in reversed(before[-most:]):
            if not 0 <= line.bottom - last.top + self.size < (1 + APART) * self.size or not fits(line):
                break
            found.insert(0, line)
            last = line
        return found

    def _is_head(self, line: Line) -> bool:
        left = min(self.lefts) - 4 * self.size
        over = [cell for cell in line.cells if cell.right > left]
        return (
            bool(over)
            and not (line.rows or line.aslant or line.mono)
            and all(len(cell.text) <= HEAD for cell in line.cells)
            and len(line.cells) - len(over) <= 1
            and all(cell.left > left for cell in over)
        )

    def line(self, heads: list[Line]) -> Line:
        """The table in one line."""
        rows = [self._head(heads), *self._rows()]
        box = [*heads, *self.taken]
        cell = Cell("", min(line.left for line in box), max(line.right for line in box))
        bottom, top = min(line.bottom for line in box), max(line.top for line in box)
        return Line((cell,), bottom, top, self.size, rows=tuple(map(tuple, rows)))

    def _head(self, heads: list[Line]) -> list[str]:
        """What stands over each column, the lines of the head joined; what stands over several is in each."""
        columns = [""] * (len(self.edges) + 1)
        for line in heads:
            for at, text in self._spread(line).items():
                columns[at] = f"{columns[at]} {text}".strip()
        return columns

    def _spread(self, line: Line) -> dict[int, str]:
        """The cells of a line of the head by the columns that they stand over; 0 that of the labels."""
        left = min(self.lefts) - self.size
        found = {0: " ".join(cell.text for cell in line.cells if cell.right < left)}
        over = [cell for cell in line.cells if cell.right >= left]
        middles = [(low + high) / 2 for low, high in zip(self.lefts, self.edges, strict=True)]
        if len(over) >= len(middles) or len(over) * 2 > len(middles) + 1:
            for cell in over:
                near = min(range(len(middles)), key=lambda at: abs(middles[at] - _middle(cell)))
                found[near + 1] = f"{found.get(near + 1, '')} {cell.text}".strip()
            return found
        for at, middle in enumerate(middles, 1):
            cell = min(over, key=lambda each: abs(_middle(each) - middle))
            if len(over) > 1 or self._is_over(cell, at):
                found[at] = cell.text
        return found

    def _is_over(self, cell: Cell, column: int) -> bool:
        """Whether a cell that stands alone is over a column: over all of them if it is in their middle."""
        low, high = min(self.lefts), max(self.edges)
        centred = abs(_middle(cell) - (low + high) / 2) < 0.15 * (high - low)
        return centred or (cell.left < self.edges[column - 1] and cell.right > self.lefts[column - 1])

    def _rows(self) -> list[list[str]]:
        rows: list[list[str]] = []
        begun = ""
        for line, after in zip(self.taken, [*self.taken[1:], None], strict=True):
            if not _is_row(line):
                if rows and not begun and _continues(line, self._last):
                    rows[-1][0] += f" {line.text}"
                elif after is not None and self._is_full(line, after):
                    begun = f"{begun} {line.text}".strip()
                else:
                    rows.append([f"{begun} {line.text}".strip(), *[""] * len(self.edges)])
                    begun = ""
            else:
                row = [f"{begun} {line.cells[0].text}".strip(), *[""] * len(self.edges)]
                begun = ""
                for cell in line.cells[1:]:
                    row[self._column(cell) + 1] = cell.text
                rows.append(row)
            self._last = line
        return rows

    def _is_full(self, line: Line, after: Line) -> bool:
        """Whether a label's line was full: the next one's first word had no room behind it."""
        label = after.cells[0]
        if label.text[:1].islower() or line.hyphenated:
            return True
        widest = max(each.cells[0].right for each in self.taken)
        letter = (label.right - label.left) / max(1, len(label.text))
        word = len(label.text.split(" ", 1)[0]) + 1
        return line.right + word * letter > widest and line.text[-1] not in ".:" and not line.bold


def _continues(line: Line, above: Line) -> bool:
    """Whether a line without figures goes on in the label above it: it begins small, and not at a new height."""
    return line.text[:1].islower() and above.bottom - line.top < 0.6 * line.size


def _middle(cell: Cell) -> float:
    return (cell.left + cell.right) / 2
