"""Read CSV, TSV and similar separated values (RFC 4180)."""

import csv
from collections import Counter
from itertools import islice

from outrider.core.csv_rows import read_csv
from outrider.pages.document import Document, tidy_text
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.parsing.draft import MAX_COLUMNS, DocumentDraft
from outrider.pages.readers.text import read_text


def read_table(source: ReaderInput) -> Document:
    """Return the rows as a Markdown table of at most 5,000 rows and 60 columns.

    The number of further rows is reported. Text that does not form a table is returned as plain text. Never raises.
    """
    min_fields = 2
    text = source.text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    text = text[: text.rfind("\n") + 1] if source.is_cut and "\n" in text else text  # drop the row that the limit cuts
    first, _, rest = text.partition("\n")
    if first.lower().startswith("sep=") and len(first) == len("sep=;"):  # as Excel writes it
        separator, text = first[4], rest
    else:
        separator = "\t" if "tab" in source.content_type else _detect_separator(text)
    rows, widths, more = _read_rows(text, separator)
    if source.is_cut:
        more += source.body.count(b"\n") - source.text.count("\n")
    start = _find_header(rows, widths)
    preamble, rows, widths = rows[:start], rows[start:], widths[start:]
    width = widths[0] if widths else 0
    for number, row in enumerate(rows):
        if widths[number] > width and not any(cell.strip() for cell in row[width:]):  # separators at the end
            rows[number], widths[number] = row[:width], width
    # Prose with commas has rows of many widths.
    is_even = 10 * widths.count(width) >= 7 * len(rows)
    if len(rows) < min_fields or width < min_fields or not is_even:
        return read_text(source)
    draft = DocumentDraft(source, "table")
    for row in preamble:
        draft.add_block(tidy_text(" ".join(cell for cell in row if cell.strip())))
    draft.add_table([[tidy_text(cell) for cell in row] for row in rows], width=max(widths))
    if more:
        draft.add_block(f"(… {more} more rows were not read)")
    draft.is_cut = draft.is_cut or source.is_cut
    return draft.build_document(metadata={"rows": len(rows) - 1 + more, "columns": max(widths)})


def _detect_separator(text: str) -> str:
    """Return the separator that splits the most of the first lines into equally many fields."""
    separators = ",;\t|"
    sample_lines = 20
    sample = "\n".join(text[:100_000].split("\n")[:sample_lines])

    def score_separator(separator: str) -> tuple[int, int]:
        try:
            counts = [len(row) for row in read_csv(sample, separator, skips_spaces=True) if row]
        except csv.Error:
            return 0, 0
        first = counts[0] if counts else 1
        return (sum(count == first for count in counts), first) if first > 1 else (0, 0)

    return max(separators, key=score_separator)


def _read_rows(text: str, separator: str) -> tuple[list[list[str]], list[int], int]:
    """Return the first non-empty rows to show, their widths, and how many follow."""
    max_rows = 5_000
    reader = (row for row in read_csv(text, separator, skips_spaces=True) if any(cell.strip() for cell in row))
    rows: list[list[str]] = []
    widths: list[int] = []
    try:
        for row in islice(reader, max_rows):
            rows.append(row[:MAX_COLUMNS])
            widths.append(len(row))
        return rows, widths, sum(1 for _ in reader)
    except csv.Error:
        return [], [], 0


def _find_header(rows: list[list[str]], widths: list[int]) -> int:
    """Return the number of caption lines before the table's header.

    The widths of the rows decide, or a single cell in each of the first rows of a table of three columns or more.
    """
    max_preamble_rows, min_columns = 20, 3
    width = Counter(widths).most_common(1)[0][0] if widths else 0
    if not widths or widths[0] * 2 > width:
        filled = (sum(bool(cell.strip()) for cell in row) for row in rows[:max_preamble_rows])
        return next((at for at, count in enumerate(filled) if count > 1), 0) if width >= min_columns else 0
    return next((at for at, each in enumerate(widths[:max_preamble_rows]) if each >= width), 0)


reader = DocumentReader("table", ("text/csv", "text/tab-separated-values"), read_table, suffixes=(".csv", ".tsv"))
