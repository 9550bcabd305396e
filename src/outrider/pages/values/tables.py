"""Read HTML tables as rows of labelled values.

Cells may span rows and columns.
"""

from dataclasses import dataclass, field
from typing import Any

from outrider.pages.values.offered_value import OfferedValue, TextReader, tidy_value

MAX_ROWS, MAX_COLUMNS = 1_000, 100
Row = tuple[str, list[OfferedValue]]


@dataclass(frozen=True, eq=False, slots=True)
class TableCell:
    """A cell of a table.

    Attributes:
        node: Its element.
        text: Its text.
        is_head: Whether it is the head of a column or row.
        width, height: Columns and rows that it spans.
    """

    node: Any
    text: str
    is_head: bool
    width: int = 1
    height: int = 1

    @classmethod
    def from_node(cls, node: Any, texts: TextReader) -> "TableCell":
        """Read a cell; a heading such as P has its full form Played."""
        attributes = node.attributes
        is_head = node.tag == "th" or attributes.get("role") in ("columnheader", "rowheader")
        full = node.css_first("abbr[title]") if is_head else None
        text = tidy_value(full.attributes.get("title")) if full is not None else texts.read(node)
        spans = [attributes.get(name) or "" for name in ("colspan", "rowspan")]
        width, height = (int(each) if each.isdecimal() and len(each) < 4 else 1 for each in spans)
        return cls(node, text, is_head, min(max(width, 1), MAX_COLUMNS), max(height, 1))


@dataclass
class Grid:
    """A table whose cells are in each row and column that they span.

    Attributes:
        lines: The cells of each row; None where the table has no cell.
        head_count: Rows at the top with the labels of columns.
        foot_start: The first row of the table's foot.
    """

    lines: list[list[TableCell | None]] = field(default_factory=list)
    head_count: int = 0
    foot_start: int = MAX_ROWS

    def place_cells(self, cells: list[TableCell], spans: dict[int, tuple[int, TableCell]]) -> None:
        """Add a row with the cells that reach into it from above.

        Cells that reach further down are remembered in `spans`.
        """
        line: list[TableCell | None] = []
        started: dict[int, tuple[int, TableCell]] = {}
        waiting = iter(cells)
        while (column := len(line)) < MAX_COLUMNS:
            if column in spans:
                left, above = spans.pop(column)
                line.append(above)
                started |= {column: (left - 1, above)} if left > 1 else {}
            elif (cell := next(waiting, None)) is not None:
                if cell.height > 1:
                    started |= {column + offset: (cell.height - 1, cell) for offset in range(cell.width)}
                line += [cell] * cell.width
            elif spans:
                line.append(None)
            else:
                break
        spans.update(started)
        self.lines.append(line)

    def count_heads(self, are_heads: list[bool]) -> int:
        """Return how many rows at the top are headings; the first row if none is marked as one."""
        max_heads, lines = 4, self.lines
        first = next((number for number, line in enumerate(lines) if len(set(line)) > 1), 0)
        count = next(
            (number for number, is_head in enumerate(are_heads) if number >= first and not is_head), len(lines)
        )
        if count == first:  # not a header row: a row with a head and values describes one thing
            head_row = lines[first] if lines else []
            return 0 if any(cell is not None and cell.is_head for cell in head_row) else first + 1
        spanned = max((cell.height for cell in lines[first] if cell is not None), default=1)
        return max(count, first + spanned) if spanned <= max_heads else count

    def label_columns(self) -> list[tuple[str, ...]]:
        """Return the labels of each column, outer ones first."""
        width = max(map(len, self.lines), default=0)
        labels: list[list[str]] = [[] for _ in range(width)]
        for line in self.lines[: self.head_count]:
            for column, cell in enumerate(line):
                if cell is not None and cell.text and cell.text not in labels[column][-1:]:
                    labels[column].append(cell.text)
        return [tuple(each) for each in labels]


def read_grid(table: Any, texts: TextReader) -> Grid:
    """Return the grid of a table, or of an element with the role of one."""
    roles = ("cell", "columnheader", "rowheader", "gridcell")
    grid = Grid()
    spans: dict[int, tuple[int, TableCell]] = {}
    are_heads: list[bool] = []
    for row in _list_rows(table):
        nodes = [node for node in row.iter() if node.tag in ("th", "td") or node.attributes.get("role") in roles]
        cells = [TableCell.from_node(node, texts) for node in nodes[:MAX_COLUMNS]]
        if not cells:
            continue
        section = row.parent.tag if row.parent is not None else ""
        if section == "tfoot":
            grid.foot_start = min(grid.foot_start, len(grid.lines))
        are_heads.append(
            section == "thead" or (all(each.is_head or not each.text for each in cells) and len(cells) > 1)
        )
        grid.place_cells(cells, spans)
    grid.head_count = grid.count_heads(are_heads)
    return grid


def _list_rows(table: Any) -> list[Any]:
    """Return a table's own rows, without those of tables inside."""
    if table.tag != "table":
        return table.css('[role="row"]')[: MAX_ROWS + 1]
    rows = []
    for child in table.iter():
        rows += [child] if child.tag == "tr" else [each for each in child.iter() if each.tag == "tr"]
    return rows[: MAX_ROWS + 1]


def read_rows(grid: Grid, place: str, texts: TextReader) -> list[Row]:
    """Return a table's rows by their columns' labels.

    Headings, notes and sums between them are left out.
    """
    labels = grid.label_columns()
    heads = grid.lines[grid.head_count - 1] if grid.head_count else []
    rows: list[Row] = []
    heading = ""
    for number, line in enumerate(grid.lines[grid.head_count :], grid.head_count):
        above = grid.lines[number - 1] if number else []
        own = [cell for column, cell in enumerate(line) if cell and above[column : column + 1] != [cell]]
        own = list(dict.fromkeys(own))
        if len(own) == 1 and len(line) > 1:
            heading = own[0].text
        if number >= grid.foot_start or (len(own) == 1 and len(line) > 1) or _is_sum(line, heads):
            continue
        where = f"{place} row {number + 1}"
        offers = [OfferedValue(("section",), heading, "table", f"{where}, heading", 0.6)] if heading else []
        for column, cell in enumerate(line[: len(labels)]):
            following = line[column + 1] if column + 1 < len(line) else None
            is_group = heads[column : column + 1] == heads[column + 1 : column + 2] and following is not cell
            if cell is None or not labels[column] or (is_group and following is not None):
                continue
            own_label, outer = labels[column][-1], " ".join(labels[column][:-1])
            if sum(each[-1:] == (own_label,) for each in labels) > 1 and outer:
                own_label, outer = f"{outer} {own_label}", ""
            if offer := texts.offer(cell.node, (own_label,), "table", f"{where}, {own_label!r}", 0.93, context=outer):
                offers.append(offer)
        rows.append((where, offers))
    return rows


def _is_sum(line: list[TableCell | None], heads: list[TableCell | None]) -> bool:
    """Return whether a row sums up others.

    It says so, or its first cell spans columns that have their own headers.
    """
    sum_words = {"total", "totals", "sum", "subtotal", "mean", "average", "summe", "gesamt", "insgesamt", "razem"}
    first = line[0] if line else None
    if first is None:
        return False
    spans_heads = first.width > 1 and len(set(heads[: first.width])) > 1
    return spans_heads or first.text.casefold().strip(" :") in sum_words


def read_columns(grid: Grid, place: str, texts: TextReader) -> list[Row]:
    """Return the columns of a table as rows, under the labels of its first column."""
    min_columns, max_label_chars = 3, 60
    lines = [line for line in grid.lines if len(line) >= min_columns and line[0] and line[1] is not line[0]]
    if len(lines) < 2 or any(len(line[0].text) > max_label_chars for line in lines if line[0]):
        return []
    rows: list[Row] = []
    for column in range(1, max(map(len, lines))):
        where = f"{place} column {column + 1}"
        offers: list[OfferedValue | None] = []
        for line in lines:
            label, cell = line[0], line[column] if column < len(line) else None
            if cell is None or label is None:
                continue
            is_year = len(cell.text) == 4 and cell.text.isdecimal()
            name = label.text or ("year" if is_year else "name")
            offers.append(texts.offer(cell.node, (name,), "table", f"{where}, {name!r}", 0.92))
            if name == "name":  # tables that compare products have models side by side
                offers.append(texts.offer(cell.node, ("model",), "table", f"{where}, {name!r}", 0.7))
            if line is lines[0] and name not in ("year", "name"):
                offers.append(texts.offer(cell.node, ("name",), "table", f"{where}, {name!r}", 0.7))
        rows.append((where, [each for each in offers if each]))
    return rows
