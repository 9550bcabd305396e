"""Join table columns that are painted one after another into rows."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from statistics import median

from outrider.pages.readers.pdf_layout.line import PdfLine


def join_painted_columns(lines: list[PdfLine]) -> list[PdfLine]:
    """Return the lines, those of short columns joined with the rows at their heights."""
    joined: list[PdfLine] = []
    rows: list[PdfLine] = []  # the table so far, and what came before it since the last jump upwards
    for run in _iter_runs(lines):
        matches = _match_rows(rows, run)
        for index, line in matches.items():
            row = rows[index]
            rows[index] = replace(
                row,
                cells=tuple(sorted((*row.cells, *line.cells), key=lambda cell: cell.left)),
                bottom=min(row.bottom, line.bottom),
                top=max(row.top, line.top),
                bold=row.bold and line.bold,
                hyphenated=False,
            )
        if rest := run[len(matches) :]:
            joined += rows
            rows = rest
    return [*joined, *rows]


def _iter_runs(lines: list[PdfLine]) -> Iterator[list[PdfLine]]:
    """Yield runs of lines, each line below the previous one."""
    run: list[PdfLine] = []
    for line in lines:
        if run and not line.top < run[-1].top - 0.5 * line.size:
            yield run
            run = []
        run.append(line)
    if run:
        yield run


def _match_rows(rows: list[PdfLine], run: list[PdfLine]) -> dict[int, PdfLine]:
    """Map rows to the first lines of a run next to them; empty without a column."""
    min_rows, max_median_chars = 3, 20
    slack_em = 0.3  # next to a label of two lines, numbers are centered
    matches: dict[int, PdfLine] = {}
    for line in run:
        middle, slack = (line.bottom + line.top) / 2, slack_em * line.size
        beside = (
            at
            for at, row in enumerate(rows)
            if row.bottom - slack < middle < row.top + slack
            and not (row.table_rows or line.table_rows or row.monospaced or line.monospaced)
            and all(cell.right < other.left or other.right < cell.left for cell in row.cells for other in line.cells)
        )
        index = next((at for at in beside if at not in matches), None)
        if index is None:
            break
        matches[index] = line
    lengths = [len(cell.text) for line in matches.values() for cell in line.cells]
    return matches if len(matches) >= min_rows and median(lengths) <= max_median_chars else {}


def sort_reading_order(lines: list[PdfLine]) -> list[PdfLine]:
    """Return the lines as they come, unless they jump upwards more often than columns explain."""
    jumps = sum(after.bottom > before.top for before, after in pairwise(lines))
    return list(_iter_xy_cut(lines, 0)) if jumps > max(4, len(lines) // 8) else lines


def _iter_xy_cut(lines: list[PdfLine], depth: int) -> Iterator[PdfLine]:
    """Yield bands and columns recursively (Nagy and Seth 1984).

    Bands go from top to bottom, columns from left to right.
    """
    max_depth = 12
    if len(lines) < 2 or depth >= max_depth:
        yield from sorted(lines, key=lambda line: (-line.top, line.left))
        return
    size = median(line.size for line in lines)
    columns = _split_by_gaps(lines, lambda line: (line.left, line.right), size)
    parts = columns
    if len(columns) < 2:
        parts = _split_by_gaps(lines, lambda line: (-line.top, -line.bottom), 0.1 * size)
        if len(parts) < 2:
            yield from sorted(lines, key=lambda line: (-line.top, line.left))
            return
        # Adjacent bands that share a gutter are merged, so that columns are cut as a whole.
        groups: list[list[PdfLine]] = []
        for band in parts:
            merged = [*groups[-1], *band] if groups else band
            if groups and len(_split_by_gaps(merged, lambda line: (line.left, line.right), size)) > 1:
                groups[-1] = merged
            else:
                groups.append(band)
        parts = groups if len(groups) > 1 else parts
    for part in parts:
        yield from _iter_xy_cut(part, depth + 1)


def _split_by_gaps(
    lines: list[PdfLine], extent: Callable[[PdfLine], tuple[float, float]], gap: float
) -> list[list[PdfLine]]:
    """Split lines into groups with a gap wider than `gap` between their extents."""
    groups: list[list[PdfLine]] = []
    group_end = 0.0
    for line in sorted(lines, key=lambda line: extent(line)[0]):
        start, end = extent(line)
        if groups and start - group_end <= gap:
            groups[-1].append(line)
            group_end = max(group_end, end)
        else:
            groups.append([line])
            group_end = end
    return groups
