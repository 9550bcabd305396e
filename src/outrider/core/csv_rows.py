"""Write rows as CSV that is safe to open in a spreadsheet."""

import csv
import io
from collections.abc import Mapping, Sequence


def format_csv(rows: Sequence[Mapping[str, object]]) -> str:
    """Return rows as CSV (RFC 4180) with a head; texts that begin like a formula get an apostrophe."""
    formula_starts = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet would run what begins like this (OWASP)
    output = io.StringIO()
    writer = csv.DictWriter(output, list(dict.fromkeys(name for row in rows for name in row)), restval="")
    writer.writeheader()
    for row in rows:
        formulas = {name for name, value in row.items() if isinstance(value, str) and value.startswith(formula_starts)}
        writer.writerow({name: f"'{value}" if name in formulas else value for name, value in row.items()})
    return output.getvalue()
