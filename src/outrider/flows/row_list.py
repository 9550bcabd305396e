"""Read rows from JSON or CSV."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from outrider.core.errors import InvalidInput

Row = dict[str, str]


def parse_rows(value: object, columns: Sequence[str], name: str) -> list[Row]:
    """Return the rows of a list, of its JSON, or of CSV with a head; all columns must be there. Raises InvalidInput."""
    max_rows = 1_000
    records = _parse_text(value, name) if isinstance(value, str) else value
    if not isinstance(records, Sequence):
        hint = f"send a list of objects with {', '.join(columns)}, or CSV with these columns"
        raise InvalidInput(f"parameters.{name}: is not a list of rows", hint=hint)
    if len(records) > max_rows:
        raise InvalidInput(f"parameters.{name}: has {len(records)} rows, {max_rows} at most", hint="run it in parts")
    return [_read_row(record, columns, f"parameters.{name}, row {number}") for number, record in enumerate(records, 1)]


def _parse_text(text: str, name: str) -> Any:
    if text.lstrip().startswith(("[", "{")):
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"parameters.{name}: is not valid JSON: {error}", hint="correct it") from None
    try:
        return list(csv.DictReader(io.StringIO(text.strip()), strict=False, skipinitialspace=True))
    except csv.Error as error:
        raise InvalidInput(f"parameters.{name}: is not valid CSV: {error}", hint="correct it") from None


def _read_row(record: object, columns: Sequence[str], place: str) -> Row:
    if len(columns) == 1 and not isinstance(record, Mapping):
        record = {columns[0]: record}
    if not isinstance(record, Mapping):
        raise InvalidInput(f"{place}: is not an object", hint=f"send one with {', '.join(columns)}")
    missing = [column for column in columns if record.get(column) is None]
    if missing:
        raise InvalidInput(f"{place}: has no {missing[0]}", hint=f"each row needs {', '.join(columns)}")
    return {column: str(record[column]) for column in columns}
