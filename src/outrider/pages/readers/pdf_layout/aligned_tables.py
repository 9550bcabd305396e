"""Find PDF tables without rules by rows whose cells stand in the same columns, with heads over several columns."""

from collections import Counter
from itertools import pairwise
from statistics import mean

from outrider.pages.readers.pdf_layout.line import PdfCell, PdfLine
from outrider.pages.readers.pdf_layout.numeric_tables import NUMERIC_CELL

Span = tuple[float, float]  # left and right edge of a column

MIN_ROWS = 3
MAX_LINE_GAP_EM = 2.4  # a wider gap between lines ends the table


def merge_aligned_tables(lines: list[PdfLine]) -> list[PdfLine]:
    """Replace the lines of each such table by one line that holds its rows."""
    cells_left = 200_000  # to look at, since each line that begins no table is looked at again below the next one
    merged: list[PdfLine] = []
    index = 0
    while index < len(lines) and cells_left > 0:
        body = _take_body(lines[index:])
        cells_left -= sum(len(line.cells) for line in body)
        columns = _find_columns(body)
        if not columns:
            merged.append(lines[index])
            index += 1
            continue
        index += len(body)
        heads, labels = _take_heads(merged, body, columns)
        del merged[len(merged) - len(heads) - len(labels) :]
        merged.append(_build_table(heads, [*labels, *body], columns))
    return merged + lines[index:]


def _take_body(lines: list[PdfLine]) -> list[PdfLine]:
    """Return the first lines as far as they are rows, or short labels between rows."""
    max_label_lines, max_label_chars = 2, 80
    taken: list[PdfLine] = []
    labels: list[PdfLine] = []
    for line in lines:
        last = (labels or taken or [line])[-1]
        is_near = line is last or 0 <= last.bottom - line.top + last.size < (1 + MAX_LINE_GAP_EM) * last.size
        if not is_near or line.table_rows or line.rotated or line.monospaced:
            break
        if _is_row(line) or (taken and len(line.cells) == len(taken[-1].cells) > 2):
            taken += [*labels, line]
            labels = []
        elif taken and len(labels) < max_label_lines and max(len(cell.text) for cell in line.cells) <= max_label_chars:
            labels.append(line)
        else:
            break
    return taken


def _is_row(line: PdfLine) -> bool:
    """Return whether a line has four cells, or three of which one is a number, and no prose."""
    max_cell_chars = 60
    numbers = sum(NUMERIC_CELL.fullmatch(cell.text) is not None for cell in line.cells)
    return len(line.cells) + (numbers > 0) > 3 and all(len(cell.text) <= max_cell_chars for cell in line.cells)


def _find_columns(body: list[PdfLine]) -> list[Span]:
    """Return the columns in which most rows have a cell, none if the rows do not agree."""
    counts = Counter(len(line.cells) for line in body if _is_row(line))
    if counts.total() < MIN_ROWS:
        return []
    usual = max(counts, key=lambda count: (counts[count], count))
    columns = merge_cell_spans([line for line in body if len(line.cells) == usual])
    fitting = sum(len(_place_cells(line, columns)) == len(line.cells) for line in body if _is_row(line))
    min_fitting_share = 0.8
    is_table = counts[usual] >= MIN_ROWS and len(columns) == usual and fitting >= min_fitting_share * counts.total()
    numbers = [NUMERIC_CELL.fullmatch(cell.text) is not None for line in body for cell in line.cells]
    min_numeric_share = 0.3  # formulas and addresses have fewer
    return columns if is_table and sum(numbers) >= min_numeric_share * len(numbers) else []


def merge_cell_spans(lines: list[PdfLine]) -> list[Span]:
    """Return the left and right edges of the columns, which are the union of all cells."""
    columns: list[Span] = []
    for left, right in sorted((cell.left, cell.right) for line in lines for cell in line.cells):
        if columns and left <= columns[-1][1]:
            columns[-1] = columns[-1][0], max(columns[-1][1], right)
        else:
            columns.append((left, right))
    return columns


def _place_cells(line: PdfLine, columns: list[Span]) -> dict[int, str]:
    """Return the texts of a line by column; a cell over several columns stands in the first."""
    if len(line.cells) == len(columns):
        return {column: cell.text for column, cell in enumerate(line.cells)}
    texts: dict[int, str] = {}
    for cell in line.cells:
        # Negative where they overlap.
        distances = [max(left, cell.left) - min(right, cell.right) for left, right in columns]
        column = distances.index(min(distances))
        texts[column] = f"{texts.get(column, '')} {cell.text}".strip()
    return texts


def _take_heads(
    previous: list[PdfLine], body: list[PdfLine], columns: list[Span]
) -> tuple[list[PdfLine], list[PdfLine]]:
    """Return the lines right above the rows that stand over the columns, and labels between them and the rows."""
    max_lines, max_labels, max_label_chars = 8, 2, 60
    below, heads, labels = body[0], list[PdfLine](), list[PdfLine]()
    numbers = [cell for line in body for cell in line.cells[1:] if NUMERIC_CELL.fullmatch(cell.text)]
    edge = min((cell.left for cell in numbers), default=columns[1][0])
    for line in reversed(previous[-max_lines:]):
        is_near = line.bottom - below.top < MAX_LINE_GAP_EM * below.size and line.top > below.bottom
        if is_near and line.right > edge and _is_head(line, columns):
            heads.insert(0, line)
        elif is_near and not heads and len(labels) < max_labels and len(line.text) <= max_label_chars:
            labels.insert(0, line)
        else:
            break
        below = line
    is_below_head = not any(NUMERIC_CELL.fullmatch(cell.text) for cell in body[0].cells)
    is_head = is_below_head or any(len(line.cells) > 1 for line in heads)
    return (heads, labels) if heads and is_head else ([], [])


def _is_head(line: PdfLine, columns: list[Span]) -> bool:
    """Return whether a line's cells are short, within the table, and not only over its first column."""
    max_cell_chars = 40
    slack = 4 * line.size
    return (
        not (line.table_rows or line.rotated or line.monospaced)
        and all(len(cell.text) <= max_cell_chars for cell in line.cells)
        and (len(line.cells) > 1 or line.left > columns[0][1])
        and columns[0][0] - slack < line.left
        and line.right < columns[-1][1] + slack
    )


def _spread_head(cells: list[PdfCell], columns: list[Span]) -> list[str]:
    """Return the text above each column; a cell that is centered over several columns is repeated."""
    centers = [(left + right) / 2 for left, right in columns]
    pitch = mean(after - before for before, after in pairwise(centers))
    reach = 1.1 * pitch * max(1.0, len(columns) / len(cells)) / 2
    # A lone cell is repeated only if it stands in the middle of all columns but the first.
    middle = (cells[0].left + cells[0].right - columns[1][0] - columns[-1][1]) / 2
    if len(cells) == 1 and abs(middle) > 0.6 * pitch:
        reach = 0
    texts = [""] * len(columns)
    for cell in cells:
        middle = (cell.left + cell.right) / 2
        nearest = min(range(len(centers)), key=lambda column: abs(centers[column] - middle))
        texts[nearest] = f"{texts[nearest]} {cell.text}".strip()
    if 2 * len(cells) > len(columns) + 1:  # each has its own column
        return texts
    for column, center in enumerate(centers):
        nearest_cell = min(cells, key=lambda cell: abs((cell.left + cell.right) / 2 - center))
        is_over = nearest_cell.left < columns[column][1] and columns[column][0] < nearest_cell.right
        if not texts[column] and (is_over or abs((nearest_cell.left + nearest_cell.right) / 2 - center) <= reach):
            texts[column] = nearest_cell.text
    return texts


def _build_table(heads: list[PdfLine], body: list[PdfLine], columns: list[Span]) -> PdfLine:
    """Return the table as one line; lines of one height are one row of the head."""
    levels: list[list[PdfLine]] = []
    for line in heads:
        if levels and line.top > levels[-1][0].bottom + 0.3 * line.size:
            levels[-1].append(line)
        else:
            levels.append([line])
    rows = [_spread_head([cell for line in level for cell in line.cells], columns) for level in levels]
    for line in body:
        texts = _place_cells(line, columns)
        rows.append([texts.get(column, "") for column in range(len(columns))])
    lines = [*heads, *body]
    cell = PdfCell("", min(line.left for line in lines), max(line.right for line in lines))
    bottom, top = min(line.bottom for line in lines), max(line.top for line in lines)
    return PdfLine((cell,), bottom, top, body[0].size, table_rows=tuple(map(tuple, rows)))
