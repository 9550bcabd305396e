"""Fill parameters and secrets into a flow."""

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel

from outrider.core.csv_rows import read_csv
from outrider.core.errors import InvalidInput
from outrider.flows.extraction import Column, Extraction
from outrider.flows.flow import Flow, FlowCondition, FlowStep, Target, iterate_steps

PartT = TypeVar("PartT", Target, FlowCondition)
# A parameter, or a column of a loop's current row.
PLACEHOLDER_PATTERN = re.compile(r"\$\{((?:row\.)?[a-z][a-z0-9_]*)\}")
Row = dict[str, str]


@dataclass(frozen=True)
class FlowValues:
    """The values of a flow's parameters.

    Attributes:
        texts: Single values by name.
        rows: Lists of rows by name.
        hidden: Values and secrets that must never be shown.
    """

    texts: Mapping[str, str]
    rows: Mapping[str, list[Row]]
    hidden: frozenset[str] = frozenset()


def resolve_parameters(flow: Flow, given: Mapping[str, object]) -> FlowValues:
    """Return the value of each parameter. Raises InvalidInput for one that is unknown, missing or malformed."""
    values = _collect_values(flow, given)
    columns = {name: each.columns for name, each in flow.parameters.items() if each.columns}
    rows = {name: parse_rows(values[name], columns[name], name) for name in columns}
    return FlowValues({name: str(value) for name, value in values.items() if name not in columns}, rows)


def _collect_values(flow: Flow, given: Mapping[str, object]) -> dict[str, object]:
    known = ", ".join(flow.parameters) or "it has none"
    for name in given:
        if name not in flow.parameters:
            raise InvalidInput(f"parameters: {flow.name} has no parameter {name!r}", hint=f"its parameters: {known}")
    values: dict[str, object] = {name: each.default for name, each in flow.parameters.items()} | dict(given)
    missing = [name for name, value in values.items() if value is None]
    if missing:
        raise InvalidInput(f"parameters: {missing[0]} is required", hint=f"send {', '.join(missing)}")
    for name, value in values.items():
        if not (flow.parameters[name].columns or isinstance(value, str | int | float)):
            raise InvalidInput(f"parameters.{name}: is not text", hint="send text or a number")
    return values


def fill_placeholders(text: str, values: Mapping[str, str]) -> str:
    """Return a text with its placeholders replaced. Raises InvalidInput for an unknown one."""

    def replace(match: re.Match[str]) -> str:
        if match[1] not in values:
            hint = f"declare it under parameters; declared: {', '.join(values) or 'none'}"
            raise InvalidInput(f"the flow uses ${{{match[1]}}}, which it does not declare", hint=hint)
        return values[match[1]]

    return PLACEHOLDER_PATTERN.sub(replace, text)


def fill_step(step: FlowStep, values: Mapping[str, str]) -> FlowStep:
    """Return a step with its own placeholders replaced, but not those of inner steps."""
    changes: dict[str, object] = {}
    for name in step.model_fields_set - {"secret", "note", "steps"}:
        value = getattr(step, name)
        if isinstance(value, str):
            changes[name] = fill_placeholders(value, values)
        elif isinstance(value, list):
            changes[name] = [fill_placeholders(each, values) for each in value]
        elif isinstance(value, dict):
            changes[name] = _fill_arguments(value, values)
        elif isinstance(value, Target | FlowCondition):
            changes[name] = fill_part(value, values)
        elif isinstance(value, Extraction):
            changes[name] = _fill_extraction(value, values)
    return step.model_copy(update=changes)


def _fill_arguments(value: object, values: Mapping[str, str]) -> object:
    """Return JSON with the placeholders of its texts replaced."""
    if isinstance(value, dict):
        return {key: _fill_arguments(each, values) for key, each in value.items()}
    if isinstance(value, list):
        return [_fill_arguments(each, values) for each in value]
    return fill_placeholders(value, values) if isinstance(value, str) else value


def fill_part(part: PartT, values: Mapping[str, str]) -> PartT:
    """Return a target or condition with its placeholders replaced."""
    texts = {name: getattr(part, name) for name in part.model_fields_set}
    filled = {name: fill_placeholders(text, values) for name, text in texts.items() if isinstance(text, str)}
    return part.model_copy(update=filled)


def _fill_extraction(extraction: Extraction, values: Mapping[str, str]) -> Extraction:
    def fill(column: Column) -> Column:
        return (
            column
            if column.value is None
            else column.model_copy(update={"value": fill_placeholders(column.value, values)})
        )

    names = ("table", "list", "items", "file")
    texts = {name: fill_placeholders(text, values) for name in names if (text := getattr(extraction, name))}
    columns = {name: fill(column) for name, column in extraction.columns.items()}
    return extraction.model_copy(update=texts | {"columns": columns})


def require_known_placeholders(flow: Flow) -> None:
    """Refuse a flow with a placeholder that will have no value. Raises InvalidInput."""
    known = {name for name, each in flow.parameters.items() if not each.columns}
    rows = {name: set(each.columns) for name, each in flow.parameters.items()}
    loops: list[tuple[str, set[str]]] = []
    for place, step in iterate_steps(flow.steps):
        if step.extract:
            rows.setdefault(step.extract.into, set()).update(step.extract.columns)
        if step.each:
            loops.append((f"{place}.", {f"row.{column}" for column in rows[step.each]}))
        here = known.union(*(columns for loop, columns in loops if place.startswith(loop)))
        for name in list_placeholders(step):
            if name not in here:
                hint = f"declare it under parameters; here are {', '.join(sorted(here)) or 'none'}"
                raise InvalidInput(f"flow {flow.name}, step {place}: ${{{name}}} has no value", hint=hint)


def list_placeholders(part: object) -> Iterator[str]:
    """Yield the placeholders of a text, or of a step's own texts."""
    if isinstance(part, str):
        yield from PLACEHOLDER_PATTERN.findall(part)
    elif isinstance(part, BaseModel):
        for name in part.model_fields_set - {"note", "steps"}:
            yield from list_placeholders(getattr(part, name))
    elif isinstance(part, list | dict):
        for each in part.values() if isinstance(part, dict) else part:
            yield from list_placeholders(each)


def parse_rows(value: object, columns: Sequence[str], name: str) -> list[Row]:
    """Return the rows of a list, of JSON, or of CSV with a header; all columns must be there. Raises InvalidInput."""
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
        rows = [row for row in read_csv(text.strip(), strict=True, skips_spaces=True) if row]
    except csv.Error as error:
        raise InvalidInput(f"parameters.{name}: is not valid CSV: {error}", hint="correct it") from None
    return [dict(zip(rows[0], row, strict=False)) for row in rows[1:]]


def _read_row(record: object, columns: Sequence[str], place: str) -> Row:
    if len(columns) == 1 and not isinstance(record, Mapping):
        record = {columns[0]: record}
    if not isinstance(record, Mapping):
        raise InvalidInput(f"{place}: is not an object", hint=f"send one with {', '.join(columns)}")
    missing = [column for column in columns if record.get(column) is None]
    if missing:
        raise InvalidInput(f"{place}: has no {missing[0]}", hint=f"each row needs {', '.join(columns)}")
    return {column: str(record[column]) for column in columns}
