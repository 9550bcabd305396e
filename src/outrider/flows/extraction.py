"""Extract a table, list or labelled values as rows with types."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from outrider.flows.flow_model import FlowModel, Identifier

Value = str | int | float | None
StructureKind = Literal["table", "list", "items", "page"]


class Column(FlowModel):
    """One value of each row, and where to find it.

    Attributes:
        label: The header of a table's column, or the label next to the value.
        part: A part of the row or item.
        selector: A CSS selector in the row or item, if nothing else identifies the value.
        value: A fixed text with placeholders, such as `${row.id}`.
        type: The type of the value; `address` takes the address of the link or picture there.
        decimal: The character before the decimals of a number.
        optional: Whether the value may be missing.
    """

    label: str = ""
    part: Literal["heading", "link", "image", "text"] | None = None
    selector: str = ""
    value: str | None = None
    type: Literal["text", "integer", "number", "address"] = "text"
    decimal: Literal[".", ","] = "."
    optional: bool = False

    @model_validator(mode="before")
    @classmethod
    def read_short_form(cls, value: Any) -> Any:
        """Read `total: Total` as `total: {label: Total}`."""
        return {"label": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def require_one_place(self) -> Self:
        """Refuse a column with no source or several sources."""
        if sum((bool(self.label), self.part is not None, bool(self.selector), self.value is not None)) != 1:
            raise ValueError("needs exactly one of label, part, selector, value")
        return self


class Extraction(FlowModel):
    """The rows to extract from a page.

    Attributes:
        table: The caption, name or heading of a table; `*` for the only one with these columns.
        list: The name or heading of a list; `*` for the only one.
        items: A CSS selector of the items, if they are not in a list.
        page: One row of the labelled values of the whole page.
        columns: The columns of the result, by name.
        into: The name of the result; extractions with the same name are combined.
        file: A file of the workspace for the result, .csv or .json.
        min_rows: The run stops if there are fewer.
        max_rows: The run stops if there are more.
    """

    table: str | None = None
    list: str | None = None
    items: str | None = None
    page: Literal[True] | None = None
    columns: dict[Identifier, Column] = Field(min_length=1, max_length=50)
    into: Identifier = "rows"
    file: str = Field(default="", pattern=r"(?i)^(.{1,200}\.(csv|json))?$")
    min_rows: int = Field(default=1, ge=0)
    max_rows: int = Field(default=1_000, ge=1, le=10_000)

    @model_validator(mode="after")
    def require_one_structure(self) -> Self:
        """Refuse an extraction without exactly one structure."""
        if sum(each is not None for each in (self.table, self.list, self.items, self.page)) != 1:
            raise ValueError("needs exactly one of table, list, items, page")
        return self

    @property
    def kind(self) -> StructureKind:
        """The kind of structure."""
        if self.table is not None:
            return "table"
        if self.list is not None:
            return "list"
        return "page" if self.page else "items"

    @property
    def structure(self) -> str:
        """The name of the structure, or the selector of its items."""
        return self.table or self.list or self.items or ""

    def __str__(self) -> str:
        name = "the page" if self.page else f"{self.kind} {self.structure!r}"
        return f"{', '.join(self.columns)} of {name}"

    def to_query(self) -> dict[str, Any]:
        """Return the query for `scripts/records.js`."""
        places = {name: each for name, each in self.columns.items() if each.value is None}
        columns = [
            {"key": key, "label": each.label, "part": each.part, "selector": each.selector}
            for key, each in places.items()
        ]
        return {"kind": self.kind, "name": self.structure, "columns": columns}


@dataclass(frozen=True)
class StructureReport:
    """A structure found on a page.

    Attributes:
        name: Its name on the page.
        records: A text and an address for each column found on the page, or None.
        missing: The wanted labels that it lacks.
    """

    name: str
    records: Sequence[Sequence[Mapping[str, Any] | None]]
    missing: Sequence[str] = ()


class ExtractionMismatch(Exception):
    """The page does not have the wanted rows."""


def read_rows(extraction: Extraction, reports: Sequence[StructureReport]) -> list[dict[str, Value]]:
    """Return the rows of the only matching structure. Raises ExtractionMismatch."""
    fitting = [each for each in reports if not each.missing]
    if len(fitting) > 1:
        names = ", ".join(repr(each.name) for each in fitting[:5])
        raise ExtractionMismatch(f"{len(fitting)} structures match {extraction}: {names}; name one of them")
    if not fitting and reports:
        lacks = f"{reports[0].name!r} has no column {reports[0].missing[0]!r}"
        raise ExtractionMismatch(f"{extraction}: {lacks}")
    if not fitting and extraction.min_rows:
        raise ExtractionMismatch(f"{extraction} is not on the page")
    records = fitting[0].records if fitting else []
    if not extraction.min_rows <= len(records) <= extraction.max_rows:
        wanted = f"min_rows is {extraction.min_rows}, max_rows {extraction.max_rows}"
        raise ExtractionMismatch(f"{extraction}: there are {len(records)} rows; {wanted}")
    return [_read_row(extraction, number, record) for number, record in enumerate(records, 1)]


def _read_row(extraction: Extraction, number: int, record: Sequence[Mapping[str, Any] | None]) -> dict[str, Value]:
    row: dict[str, Value] = {}
    cells = iter(record)
    for name, column in extraction.columns.items():
        cell = {"text": column.value} if column.value is not None else next(cells)
        try:
            row[name] = _read_value(column, cell or {})
        except ValueError as error:
            raise ExtractionMismatch(f"row {number}, column {name}: {error}") from None
    return row


def _read_value(column: Column, cell: Mapping[str, Any]) -> Value:
    """Return the value in the column's type. Raises ValueError with the reason as a sentence."""
    if several := cell.get("several"):
        raise ValueError(f"{several} values match; make the selector more specific")
    text = str(cell.get("address" if column.type == "address" else "text") or "").strip()
    if not text:
        if column.optional:
            return None
        raise ValueError("no value found; correct the column, or set optional: true")
    return parse_number(text, column.type, column.decimal) if column.type in ("integer", "number") else text


def parse_number(text: str, kind: str, decimal: str = ".") -> int | float:
    """Return the number in a text with at most a currency or unit around it. Raises ValueError."""
    group = "," if decimal == "." else "."
    groups = rf"\d{{1,3}}(?:[{group}\s\u202f\u00a0'’]\d{{3}})+|\d+"
    found = re.fullmatch(rf"([^\d+\-−.,]*)([+\-−]?)\s*(\D{{0,4}}?)({groups})({re.escape(decimal)}\d+)?(\D*)", text)
    if not found or any(mark in found[6] for mark in ".,-−"):
        raise ValueError(f"{text[:60]!r} is not a number; set type: text, or decimal for another decimal character")
    whole, fraction = re.sub(r"\D", "", found[4]), (found[5] or "")[1:]
    sign = "-" if found[2] in ("-", "−") else ""
    if kind == "number":
        return float(f"{sign}{whole}.{fraction or 0}")
    if fraction.strip("0"):
        raise ValueError(f"{text[:60]!r} is not a whole number; set type: number")
    return int(f"{sign}{whole}")
