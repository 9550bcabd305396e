"""Restore the order of text columns that are painted alternately.

Recognized scans have such columns.

A gutter is a strip that hardly any line crosses, with long lines on either side that fill their columns. Columns of
tables have short lines, or lines that end anywhere.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate, groupby, pairwise
from operator import itemgetter
from statistics import median

from outrider.pages.readers.pdf_layout.line import PdfCell, PdfLine

MIN_PROSE_CHARS = 20
MIN_COLUMN_LINES = 8
MAX_LINES = 2_000  # a page with more is a drawing or a list


def sort_text_columns(lines: list[PdfLine]) -> list[PdfLine]:
    """Return the lines column by column.

    They are unchanged if they are not painted alternately.
    """
    if len(lines) > MAX_LINES:
        return lines
    gutters = _find_gutters(lines)
    if not gutters:
        return lines
    pieces = [piece for line in lines for piece in _split_line(line, gutters)]
    columns = [_find_column(piece, gutters) for piece in pieces]
    # Each band below a wide line has one jump from a column to the next.
    bands = 1 + sum(after is None is not before for before, after in pairwise(columns))
    switches = sum(before is not None and after is not None and before != after for before, after in pairwise(columns))
    if switches <= 2 * len(gutters) * bands + 4:
        return lines
    return list(_iter_columns(pieces, gutters))


def _find_gutters(lines: list[PdfLine]) -> list[float]:
    """Return the middles of the strips between columns of text, from left to right."""
    max_crossing_share = 0.12
    max_coordinate = 20_000  # a page has at most 14,400 points (ISO 32000-1 annex C)
    cells = [
        cell
        for line in lines
        if _is_prose(line)
        for cell in line.cells
        if len(cell.text) >= MIN_PROSE_CHARS and -max_coordinate < cell.left < cell.right < max_coordinate
    ]
    if len(cells) < 2 * MIN_COLUMN_LINES:
        return []
    left, right = int(min(cell.left for cell in cells)), int(max(cell.right for cell in cells))
    changes = [0] * (right - left + 3)  # of the number of cells, per point
    for cell in cells:
        changes[int(cell.left) - left] += 1
        changes[int(cell.right) - left + 1] -= 1
    coverage = list(accumulate(changes))
    limit = max_crossing_share * max(coverage)
    gutters: list[float] = []
    start = None
    for x, count in enumerate(coverage):
        if count <= limit:
            start = x if start is None else start
        elif start is not None:
            gutters.append(left + (start + x) / 2)
            start = None
    return gutters if _are_filled_columns(lines, [gutter for gutter in gutters if gutter > left + 1]) else []


def _are_filled_columns(lines: list[PdfLine], gutters: list[float]) -> bool:
    """Return whether there are enough lines between all gutters.

    Most of them must fill their column.
    """
    min_fill_share, max_columns = 0.85, 5
    columns: dict[int, list[tuple[float, float]]] = {}
    for line in lines:
        for piece in _split_line(line, gutters):
            column = _find_column(piece, gutters)
            if column is not None and _is_prose(piece) and len(piece.text) >= MIN_PROSE_CHARS:
                columns.setdefault(column, []).append((piece.left, piece.right))
    if not gutters or len(columns) != len(gutters) + 1 or len(columns) > max_columns:
        return False
    for spans in columns.values():
        width = max(end for _, end in spans) - min(start for start, _ in spans)
        if len(spans) < MIN_COLUMN_LINES or median(end - start for start, end in spans) < min_fill_share * width:
            return False
    return True


def _is_prose(line: PdfLine) -> bool:
    return not (line.table_rows or line.rotated or line.monospaced)


def _split_line(line: PdfLine, gutters: list[float]) -> Iterator[PdfLine]:
    """Yield the parts of a line between gutters; one with a cell across a gutter is whole."""
    columns = [_find_column(cell, gutters) for cell in line.cells]
    if None in columns or len(set(columns)) < 2:
        yield line
        return
    for _, group in groupby(zip(columns, line.cells, strict=True), key=itemgetter(0)):
        yield replace(line, cells=tuple(cell for _, cell in group), hyphenated=False)


def _find_column(part: PdfLine | PdfCell, gutters: list[float]) -> int | None:
    """Return a line's column, or None if it crosses a gutter."""
    if any(part.left < gutter - 1 and gutter + 1 < part.right for gutter in gutters):
        return None
    return sum(gutter < (part.left + part.right) / 2 for gutter in gutters)


def _iter_columns(pieces: list[PdfLine], gutters: list[float]) -> Iterator[PdfLine]:
    """Yield the lines of each band between wide lines, column by column."""
    band: list[PdfLine] = []
    for piece in [*sorted(pieces, key=lambda piece: -piece.top), None]:
        if piece is not None and _find_column(piece, gutters) is not None:
            band.append(piece)
            continue
        for column in range(len(gutters) + 1):
            yield from (line for line in band if _find_column(line, gutters) == column)
        band = []
        if piece is not None:
            yield piece
