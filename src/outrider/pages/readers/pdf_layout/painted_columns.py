"""Join the columns of tables that a PDF paints one after the other into rows."""

from collections.abc import Iterator
from dataclasses import replace
from statistics import median

from outrider.pages.readers.pdf_layout.line import PdfLine

MIN_ROWS = 3


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
    """Yield successive lines of which each is below the one before."""
    run: list[PdfLine] = []
    for line in lines:
        if run and not line.top < run[-1].top - 0.5 * line.size:
            yield run
            run = []
        run.append(line)
    if run:
        yield run


def _match_rows(rows: list[PdfLine], run: list[PdfLine]) -> dict[int, PdfLine]:
    """Return the first lines of a run by the index of the row beside them, none if they do not form a column."""
    max_median_chars = 20
    slack_em = 0.3  # beside a label of two lines, numbers are centered
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
    return matches if len(matches) >= MIN_ROWS and median(lengths) <= max_median_chars else {}
