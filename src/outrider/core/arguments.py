"""Read the arguments that a model sent; explain those that cannot be understood."""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from types import NoneType
from typing import Any

from pydantic import BaseModel, ValidationError

from outrider.core.argument_errors import Place, describe_conflict, explain_problems
from outrider.core.argument_repair import pair_items, repair_value
from outrider.core.errors import InvalidInput
from outrider.core.field_groups import is_number
from outrider.core.parameter_names import (
    find_parameter,
    has_lenient_object,
    list_declared_names,
    map_nested_models,
    normalize_name,
)
from outrider.core.unknown_fields import UnknownFields

RAW_ARGUMENT = "raw"  # the one argument in which hosts wrap text that they could not parse
WRAPPER_NAMES = (RAW_ARGUMENT, "arguments", "args", "input", "params", "parameters")
# Parameters that name files: no system accepts a NUL there, and libraries raise their own errors.
FILE_PARAMETER = re.compile(
    r"path|file|folder|glob|pattern|dir(?:_|$)|state_?id|(?:package|display)_name", re.IGNORECASE
)
# Values that callers send for optional parameters if their host requires all.
LEFT_OUT_VALUES = (None, "", "default")
# Some tools take a reference and the element's description for people; only the reference counts.
EXACT_NAMES = ("ref", "uid", "elementref", "targetref", "startref", "endref")


@dataclass(frozen=True)
class ReadArguments:
    """Arguments with their interpretation.

    Attributes:
        model: The validated arguments.
        arguments: The same values under the parameters' own names.
        notes: Values that were interpreted differently from their spelling; null and numbers as text are not mentioned.
    """

    model: BaseModel
    arguments: dict[str, Any]
    notes: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """The notes in one line; empty if there are none."""
        max_notes = 5
        more = f"; and {len(self.notes) - max_notes} more" if len(self.notes) > max_notes else ""
        return f"Understood: {'; '.join(self.notes[:max_notes])}{more}" if self.notes else ""


def parse_arguments(arguments: object) -> dict[str, Any]:
    """Return the arguments as a JSON object.

    Hosts send an object or its JSON text; an empty text or nothing means no arguments
    (docs/reference/protocol.md). Raises InvalidInput for JSON that does not parse or is not an object.
    """
    if isinstance(arguments, Mapping):
        return dict(arguments)
    if isinstance(arguments, list | tuple):
        raise _build_type_error(arguments)
    if not isinstance(arguments, str) or not arguments.strip():
        return {}
    try:
        parsed = json.loads(arguments)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"the arguments are not valid JSON: {error}", hint="send a JSON object") from None
    if not isinstance(parsed, dict):
        raise _build_type_error(parsed)
    return parsed


def _build_type_error(value: object) -> InvalidInput:
    json_type_names = {list: "array", tuple: "array", str: "string", bool: "boolean", NoneType: "null"}  # else a number
    name = json_type_names.get(type(value), "number")
    return InvalidInput(f"the arguments are a JSON {name}", hint="send a JSON object")


def validate_arguments(model: type[BaseModel], name: str, arguments: object) -> BaseModel:
    """Return the arguments as an instance of `model`, by its own names only. Raises InvalidInput."""
    return _ArgumentReader(name).validate_repaired(model, parse_arguments(arguments)).model


def read_arguments(
    model: type[BaseModel], name: str, arguments: object, defaults: Mapping[str, str] | None = None
) -> ReadArguments:
    """Return the arguments of a model's call, in any common spelling.

    Null means "left out". Any spelling of a parameter, usual other names, fields outside the object that they
    belong to, and values in a near type are understood; a name or value that could mean two things is not.
    Raises InvalidInput, which lists the wrong fields with their remedies.
    """
    max_items = 100_000
    parsed = parse_arguments(arguments)
    for field, value in parsed.items():
        texts = value if isinstance(value, list) else [value]
        if len(texts) > max_items:
            message = f"{name}: {field}: has {len(texts):,} items, more than {max_items:,}"
            raise InvalidInput(message, hint="send them in several calls")
        if any(isinstance(text, str) and "\0" in text for text in texts) and FILE_PARAMETER.search(str(field)):
            hint = "leave it out: file names cannot contain it"
            raise InvalidInput(f"{name}: {field}: holds a NUL character", hint=hint)
    is_complete = not any(parsed.get(parameter) in LEFT_OUT_VALUES for parameter in defaults or {})
    if None not in parsed.values() and is_complete and not has_lenient_object(model):
        with suppress(ValidationError):  # otherwise it is read more carefully
            return ReadArguments(model.model_validate(parsed), parsed)
    reader = _ArgumentReader(name)
    try:
        is_endless = len(parsed) > 1_000  # no tool has that many parameters
        named = parsed if is_endless else reader.rename_fields(model, reader.unwrap_arguments(model, parsed))
        filled_in = {
            parameter: value for parameter, value in (defaults or {}).items() if named.get(parameter) in LEFT_OUT_VALUES
        }
        return reader.validate_repaired(model, named | filled_in)
    except RecursionError:
        raise InvalidInput(f"{name}: the arguments are nested too deeply", hint="send them as text") from None


class _ArgumentReader:
    """Reads the arguments of one call, and remembers their spelling."""

    def __init__(self, tool: str) -> None:
        self._tool = tool
        self._notes: list[str] = []
        self._spellings: dict[Place, str] = {}  # by place, the name as written

    def unwrap_arguments(self, model: type[BaseModel], parsed: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments inside a wrapper such as `{"raw": "{...}"}`."""
        [wrapper] = parsed if len(parsed) == 1 else [""]
        if wrapper not in WRAPPER_NAMES or wrapper in model.model_fields:
            return parsed
        inner = parsed[wrapper]
        holds_object = isinstance(inner, dict) or (isinstance(inner, str) and inner.lstrip().startswith("{"))
        if not holds_object and (wrapper != RAW_ARGUMENT or not isinstance(inner, str)):
            return parsed
        unwrapped = parse_arguments(inner)  # its error describes the problem
        self._notes.append(f"the arguments inside {wrapper}")
        return unwrapped

    def validate_repaired(self, model: type[BaseModel], arguments: dict[str, Any]) -> ReadArguments:
        """Validate, and repair wrong values while that helps. Raises InvalidInput."""
        max_problems = 10_000  # each takes a kilobyte
        max_rounds = 4  # a text becomes a list, its item an object, and a field of that a number
        repaired = deepcopy(arguments)
        for _ in range(max_rounds):
            try:
                return ReadArguments(model.model_validate(repaired), repaired, tuple(dict.fromkeys(self._notes)))
            except ValidationError as error:
                if error.error_count() > max_problems:
                    message = f"{self._tool}: {error.error_count():,} values do not fit its schema"
                    raise InvalidInput(message, hint="send fewer, or check one of them first") from None
                problems: list[dict[str, Any]] = [dict(each) for each in error.errors(include_url=False)]
            repairs = [repair_value(repaired, problem, self._notes) for problem in problems]
            if not any(repairs):
                break
        raise explain_problems(model, self._tool, problems, self._spellings)

    def rename_fields(self, model: type[BaseModel], given: dict[str, Any], place: Place = ()) -> dict[str, Any]:
        """Return an object's fields by their own names, without nulls that mean "left out"."""
        renamed: dict[str, Any] = {}
        unknown: dict[str, Any] = {}
        for spelling, value in given.items():
            parameter = find_parameter(model, spelling) if isinstance(spelling, str) else None
            if value is None and (parameter is None or not model.model_fields[parameter].is_required()):
                continue
            if parameter is None:
                unknown[spelling] = value
            else:
                self._rename_field(model, renamed, (*place, parameter), (spelling, value))
        for spelling in list(unknown):
            self._place_unknown_field(model, renamed, spelling, unknown)
        if unknown and model.model_config.get("extra") == "forbid" and all(isinstance(each, str) for each in unknown):
            UnknownFields(model, renamed, unknown, self._notes).understand()
        return renamed | unknown

    def _rename_field(
        self, model: type[BaseModel], renamed: dict[str, Any], here: Place, sent: tuple[str, Any]
    ) -> None:
        """Put a field under its own name. Raises InvalidInput if that was sent with another value."""
        parameter, (spelling, value) = str(here[-1]), sent
        meant = self._rename_nested(model, parameter, value, here)
        if normalize_name(spelling) == "timeout" and is_number(value) and value >= 1_000:
            meant = value // 1000  # no call waits for a thousand seconds, so these are milliseconds
            self._notes.append(f"{spelling} in milliseconds")
        if parameter in renamed and renamed[parameter] != meant and normalize_name(spelling) not in EXACT_NAMES:
            if normalize_name(self._spellings[here]) in EXACT_NAMES:
                return
            raise describe_conflict(self._tool, here, self._spellings[here], spelling)
        renamed[parameter], self._spellings[here] = meant, spelling
        if spelling != parameter and spelling not in list_declared_names(model, parameter):
            self._notes.append(f"{spelling} as {parameter}")

    def _rename_nested(self, model: type[BaseModel], parameter: str, value: Any, place: Place) -> Any:
        """Return an object, or a list of objects, with the fields' own names; anything else unchanged."""
        nested = map_nested_models(model).get(parameter)
        if nested is None:
            return value
        if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                return value
            self._notes.append(f"the JSON text of {parameter}")
        if is_number(value):
            numbers = [name for name, field in nested.model_fields.items() if field.annotation is int]
            return {numbers[0]: value} if len(numbers) == 1 else value
        if isinstance(value, dict):
            return pair_items(model, parameter, nested, value) or self.rename_fields(nested, value, place)
        if isinstance(value, list):
            return [
                self.rename_fields(nested, each, (*place, number)) if isinstance(each, dict) else each
                for number, each in enumerate(value)
            ]
        return value

    def _place_unknown_field(
        self, model: type[BaseModel], arguments: dict[str, Any], spelling: str, unknown: dict[str, Any]
    ) -> None:
        """Move a field into the only object that has it, if there is exactly one."""
        places: list[tuple[str, str]] = []
        for parameter, nested in map_nested_models(model).items():
            inner = find_parameter(nested, spelling) if isinstance(spelling, str) else None
            if inner is not None and isinstance(arguments.get(parameter, {}), dict):
                places.append((parameter, inner))
        if len(places) != 1 or places[0][1] in arguments.get(places[0][0], {}):
            return
        [(parameter, inner)] = places
        arguments[parameter] = arguments.get(parameter, {}) | {inner: unknown.pop(spelling)}
        self._notes.append(f"{spelling} as {parameter}.{inner}")
