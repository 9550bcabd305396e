"""Read separated values, and write CSV that spreadsheets open safely."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence


def format_csv(rows: Sequence[Mapping[str, object]], columns: Sequence[str] = ()) -> str:
    """Return rows as CSV (RFC 4180) with a head; texts that begin like a formula get an apostrophe.

    Args:
        rows: Cells by the names of their columns.
        columns: Names of the first columns, which are written even if they are empty.
    """
    formula_starts = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet would run cells that begin like this (OWASP)
    output = io.StringIO()
    writer = csv.DictWriter(
        output, list(dict.fromkeys([*columns, *(name for row in rows for name in row)])), restval=""
    )
    writer.writeheader()
    for row in rows:
        formulas = {name for name, value in row.items() if isinstance(value, str) and value.startswith(formula_starts)}
        writer.writerow({name: f"'{value}" if name in formulas else value for name, value in row.items()})
    return output.getvalue()


def read_csv(
    text: str, separator: str = ",", *, strict: bool = False, skips_spaces: bool = False
) -> Iterator[list[str]]:
    """Return the rows of separated values (RFC 4180).

    Cells may have up to 10 million characters.

    Args:
        text: The whole text, with any line ends.
        separator: One character.
        strict: Refuse misplaced quotes instead of reading them as text.
        skips_spaces: Leave out spaces after a separator.

    Raises:
        csv.Error: While the rows are read, for a longer cell, or for misplaced quotes if `strict`.
    """
    max_cell_chars = 10_000_000
    # The limit is global in the process, so each reader must set the same one; Python's default is 131,072.
    csv.field_size_limit(max_cell_chars)
    lines = io.StringIO(text, newline="")
    return csv.reader(lines, delimiter=separator, strict=strict, skipinitialspace=skips_spaces)
