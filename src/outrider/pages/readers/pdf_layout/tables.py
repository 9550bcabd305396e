"""Find PDF tables without rules, wherever their lines come in the file.

From each line with gaps on, the lines below are taken while they are near one another and fit the same columns:
rows, single labels, and further lines of cells. Whether they are a table is decided in `PdfTable` alone.
"""

from collections.abc import Iterator
from dataclasses import replace

from outrider.pages.readers.pdf_layout.line import PdfCell, PdfLine
from outrider.pages.readers.pdf_layout.pdf_table import MAX_LINE_GAP_EM, PdfTable, is_special, merge_levels
from outrider.pages.readers.pdf_layout.table_columns import TableColumns, find_columns

Replacement = tuple[list[PdfLine], set[int]]  # new lines, and the ids of those whose place they take


def merge_tables(lines: list[PdfLine]) -> list[PdfLine]:
    """Replace the lines of each table by one line that holds its rows."""
    lines_left = 20_000  # to look at, because each line that begins no table is looked at again below the next one
    lines = [_join_number_signs(line) for line in lines]
    rest = sorted(lines, key=lambda line: (-line.top, line.left))
    replacements: list[Replacement] = []
    index = 0
    while index < len(rest) and lines_left > 0:
        region = _take_region(rest, index)
        lines_left -= len(region)
        replacement = _replace_region(region, rest[:index]) if region else None
        if replacement is None:
            index += 1
            continue
        replacements.append(replacement)
        index -= sum(id(line) in replacement[1] for line in rest[:index])
        rest = [line for line in rest if id(line) not in replacement[1]]
    return list(_iter_merged(lines, replacements))


def _join_number_signs(line: PdfLine) -> PdfLine:
    """Join currency symbols and closing brackets with their numbers."""
    if len(line.cells) < 3 or line.table_rows:
        return line
    cells: list[PdfCell] = []
    for cell in line.cells:
        last = cells[-1] if cells else None
        is_sign = last and last.text.rstrip("( ") in ("$", "€", "£", "¥")
        if last and len(cells) > 1 and (is_sign or not cell.text.strip(")%*")):
            cells[-1] = PdfCell(f"{last.text}{cell.text}", last.left, cell.right)
        else:
            cells.append(cell)
    return replace(line, cells=tuple(cells)) if len(cells) < len(line.cells) else line


def _iter_merged(lines: list[PdfLine], replacements: list[Replacement]) -> Iterator[PdfLine]:
    """Yield the lines in their order, what replaces some of them where the first one was."""
    owners = {line: number for number, (_, ids) in enumerate(replacements) for line in ids}
    written: set[int] = set()
    for line in lines:
        number = owners.get(id(line))
        if number is None:
            yield line
        elif number not in written:
            written.add(number)
            yield from replacements[number][0]


def _take_region(lines: list[PdfLine], start: int) -> list[PdfLine]:
    """Return a line with gaps and the lines below it that are near one another.

    Args:
        lines: Lines from the top of the page to its bottom.
        start: The index of the first line.
    """
    first = lines[start]
    if len(first.cells) < 2 or is_special(first):
        return []
    left, right = first.left - 6 * first.size, first.right + first.size
    region: list[PdfLine] = []
    for is_last in (False, True):  # labels at the left may be above the first row that reaches that far
        region, bottom = [first], first.bottom
        for line in lines[start + 1 :]:
            if bottom - line.top > MAX_LINE_GAP_EM * line.size:
                break
            if line.right > left and line.left < right:
                if is_special(line) or _crosses_columns(line, first):
                    break
                region.append(line)
                bottom = min(bottom, line.bottom)
                if not is_last and len(line.cells) > 1:
                    left, right = min(left, line.left), max(right, line.right)
    return region


def _crosses_columns(line: PdfLine, first: PdfLine) -> bool:
    """Return whether a long cell reaches over several cells of a table's first line, as text does."""
    min_chars = 40
    return any(
        len(cell.text) >= min_chars
        and sum(cell.left < other.right and other.left < cell.right for other in first.cells) > 1
        for cell in line.cells
    )


def _replace_region(region: list[PdfLine], above: list[PdfLine]) -> Replacement | None:
    """Replace the table or columns that a region begins with."""
    table = _find_table(merge_levels(region))
    if table is None:
        return None
    bottom = min(line.bottom for line in table.lines) - 0.1
    inside = {id(line) for line in region if line.bottom >= bottom}
    if table.is_text:
        is_alternate = 2 * sum(len(line.cells) > 1 for line in region) > len(table.lines)
        return (table.split_columns(), inside) if is_alternate else None
    heads, labels = table.take_heads(above)
    line = table.build_line(heads, labels)
    return ([line], inside.union(map(id, (*heads, *labels)))) if len(line.table_rows) > 1 else None


def _find_table(region: list[PdfLine]) -> PdfTable | None:
    while len(region) > 1 and (columns := find_columns(region)):
        lines = _take_lines([columns.split_cells(line) for line in region], columns)
        if lines and (len(lines) == len(region) or find_columns(lines) == columns):
            table = PdfTable(lines, columns)
            return table if table.is_text or table.is_table else None
        region = lines
    return None


def _take_lines(region: list[PdfLine], columns: TableColumns) -> list[PdfLine]:
    """Return the first lines that fit the columns.

    Labels and further lines of cells between them are included.
    """
    max_labels, max_label_chars, max_gap_em = 3, 80, 0.6
    table_lines, pending = list[PdfLine](), list[PdfLine]()
    labels = 0
    for line in region:
        places = columns.place_cells(line)
        if len(line.cells) > 1 and places:
            table_lines += [*pending, line]
            pending, labels = [], 0
            continue
        is_label = places is None or places == [0]
        labels = labels + 1 if is_label else labels
        if labels > max_labels or (is_label and max(len(cell.text) for cell in line.cells) > max_label_chars):
            break
        pending.append(line)
    for line in pending if table_lines else []:  # further lines of the last row's cells
        places = columns.place_cells(line)
        is_further = bool(places) and (places != [0] or line.text[:1].islower())
        if not is_further or table_lines[-1].bottom - line.top >= max_gap_em * line.size:
            break
        table_lines.append(line)
    return table_lines
