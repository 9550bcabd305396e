"""Read HTML tables as rows of labelled values.

Cells may span rows and columns.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from outrider.pages.values.labels import CONTRARY_WORDS, normalize_label
from outrider.pages.values.offered_value import OfferedValue, TextReader
from outrider.pages.values.table_cells import MAX_COLUMNS, TableCell, is_repeated_head, offer_links

MAX_ROWS = 1_000
Row = tuple[str, list[OfferedValue]]


@dataclass
class Grid:
    """A table whose cells are in each row and column that they span.

    Attributes:
        lines: The cells of each row; None where the table has no cell.
        head_count: Rows at the top with the labels of columns.
        feet: The rows of the table's foot.
    """

    lines: list[list[TableCell | None]] = field(default_factory=list)
    head_count: int = 0
    feet: set[int] = field(default_factory=set)

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
        if count == first:  # not a header row: a row that starts with a head describes one thing
            head_row, row = (lines[number] if number < len(lines) else [] for number in (first, first + 1))
            if head_row and head_row[0] is not None and head_row[0].is_head:
                return 0
            # A heading over several columns has their own headings below.
            is_wide = any(cell is not None and cell.width > 1 for cell in head_row)
            is_head = len(set(row)) > len(set(head_row)) and all(
                cell is not None and cell.text and not re.search(r"\d", cell.text) for cell in row
            )
            return first + 1 + (is_wide and is_head)
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

    def name_columns(self, labels: list[tuple[str, ...]]) -> list[list[tuple[str, float]]]:
        """Return the further names of each column, with weights: what a heading is short for, and its kind."""
        kinds = {"date": "date", "time": "time", "name": "name", "title": "name", "number": "number"}
        full_weight, kind_weight = 0.88, 0.4
        names: list[list[tuple[str, float]]] = []
        words = [normalize_label(each[-1]).split() if each else [] for each in labels]
        ends = [kinds.get(each[-1], "") if each else "" for each in words]
        heads = [
            list(
                dict.fromkeys(
                    cell for line in self.lines[: self.head_count] for cell in line[column : column + 1] if cell
                )
            )
            for column in range(len(labels))
        ]
        forms = [[form for cell in each for form in cell.list_full_forms()] for each in heads]
        counts = Counter(chain.from_iterable(map(set, forms)))  # "Click to sort" is the title of several
        for column, label in enumerate(labels):
            names.append([(form, full_weight) for form in forms[column] if counts[form] == 1])
            # The only date of a row is its date: a decision date, a date filed.
            is_only = ends[column] and ends.count(ends[column]) == 1 and CONTRARY_WORDS.isdisjoint(words[column])
            same = [kind for kind, group in kinds.items() if group == ends[column]] if is_only else []
            names[-1] += [(kind, kind_weight) for kind in same if [kind] != words[column] and label]
        return names


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
            grid.feet.add(len(grid.lines))
        are_heads.append(
            section == "thead" or (all(each.is_head or not each.text for each in cells) and len(cells) > 1)
        )
        grid.place_cells(cells, spans)
    grid.head_count = min(grid.count_heads(are_heads), len(grid.lines))
    return grid


def has_head_row(table: Any) -> bool:
    """Return whether one of a table's first rows consists of headings."""
    max_rows = 3
    rows = [[each.tag for each in row.iter() if each.tag in ("th", "td")] for row in _list_rows(table)[:max_rows]]
    return any(len(tags) > 1 and set(tags) == {"th"} for tags in rows)


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
    names = grid.name_columns(labels)
    heads = grid.lines[grid.head_count - 1] if grid.head_count else []
    rows: list[Row] = []
    heading = ""
    for number, line in enumerate(grid.lines[grid.head_count :], grid.head_count):
        above = grid.lines[number - 1] if number else []
        own = [cell for column, cell in enumerate(line) if cell and above[column : column + 1] != [cell]]
        own = list(dict.fromkeys(own))
        is_again = is_repeated_head(line, heads)
        if (len(own) == 1 and len(line) > 1) or (
            is_again and own[0].text not in [head and head.text for head in heads]
        ):
            heading = own[0].text
        if number in grid.feet or (len(own) == 1 and len(line) > 1) or is_again or _is_sum(line, heads):
            continue
        where = f"{place} row {number + 1}"
        offers = [OfferedValue(("section",), heading, "table", f"{where}, heading", 0.6)] if heading else []
        for column, cell in enumerate(line[: len(labels)]):
            following = line[column + 1] if column + 1 < len(line) else None
            is_group = heads[column : column + 1] == heads[column + 1 : column + 2] and following is not cell
            if cell is None or (is_group and following is not None):
                continue
            own_label, outer = labels[column][-1] if labels[column] else "", " ".join(labels[column][:-1])
            if sum(each[-1:] == (own_label,) for each in labels) > 1 and outer:
                own_label, outer = f"{outer} {own_label}", ""
            offers += cell.offer_value(own_label, (outer, where), names[column], texts)
        rows.append((where, [*offers, *offer_links(own, where)]))
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
