"""Validate the arguments that a model sent, and explain what to send instead."""

import json
from collections.abc import Mapping
from contextlib import suppress
from difflib import get_close_matches
from types import NoneType
from typing import Any

from pydantic import BaseModel, ValidationError

from outrider.core.errors import InvalidInput

RAW_ARGUMENT = "raw"  # the one argument in which hosts wrap text that they could not parse
# Pydantic's types of errors for a value that should be a list or an object.
LIST_ERROR = "list_type"
OBJECT_ERRORS = ("dict_type", "model_type", "model_attributes_type")
JSON_TYPE_NAMES = {list: "array", tuple: "array", str: "string", bool: "boolean", NoneType: "null"}  # else a number


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
    name = JSON_TYPE_NAMES.get(type(value), "number")
    return InvalidInput(f"the arguments are a JSON {name}", hint="send a JSON object")


def validate_arguments(model: type[BaseModel], name: str, arguments: object) -> BaseModel:
    """Return the arguments as an instance of `model`; InvalidInput lists every wrong field with its remedy."""
    parsed = parse_arguments(arguments)
    try:
        return model.model_validate(parsed)
    except ValidationError as error:
        errors = [dict(each) for each in error.errors(include_url=False)]
    if (repaired := _repair_arguments(parsed, errors)) != parsed:
        with suppress(ValidationError):
            return model.model_validate(repaired)
    max_problems = 5
    problems = [_describe_problem(error, model) for error in errors[:max_problems]]
    more = f"; and {len(errors) - max_problems:,} more" if len(errors) > max_problems else ""
    if parsed.keys() == {RAW_ARGUMENT}:
        parse_arguments(parsed[RAW_ARGUMENT])  # its error says what is wrong with the text
    raise InvalidInput(
        f"{name}: " + "; ".join(f"{field}: {problem}" for field, problem, _ in problems) + more,
        hint="; ".join(dict.fromkeys(remedy for _, _, remedy in problems)),
        details={"fields": [field for field, _, _ in problems]},
    )


def _repair_arguments(arguments: dict[str, Any], errors: list[dict[str, Any]]) -> dict[str, Any]:
    """Fix what models often send for a list or an object: its JSON as text, or its only item."""
    repaired = dict(arguments)
    for error in errors:
        location, text, expected = error["loc"], error["input"], error["type"]
        if len(location) != 1 or not isinstance(text, str) or expected not in (LIST_ERROR, *OBJECT_ERRORS):
            continue
        try:
            parsed = json.loads(text)
        except (ValueError, RecursionError):
            parsed = None
        if isinstance(parsed, list if expected == LIST_ERROR else dict):
            repaired[location[0]] = parsed
        elif expected == LIST_ERROR:
            repaired[location[0]] = [text]
    return repaired


def _describe_problem(error: dict[str, Any], model: type[BaseModel]) -> tuple[str, str, str]:
    """Return the field, what is wrong with it, and what to send instead."""
    field = _shorten_text(".".join(str(part) for part in error["loc"])) or "arguments"
    if error["type"] == "extra_forbidden":
        return field, "no such parameter", _suggest_parameter(model, field)
    known = model.model_fields.get(field)
    description = f" ({known.description})" if known and known.description else ""
    if error["type"] == "missing":
        return field, "is required", f"add {field!r}{description}"
    reason = error["msg"].removeprefix("Value error, ")
    try:
        value = _shorten_text(json.dumps(error["input"], ensure_ascii=False, default=str))
    except (TypeError, ValueError, RecursionError):  # an object of a Python caller that is not JSON: name its type
        value = type(error["input"]).__name__
    return field, f"{reason} (got {value})", f"correct {field!r}{description}"


def _suggest_parameter(model: type[BaseModel], field: str) -> str:
    known = list(model.model_fields)
    if close := get_close_matches(field, known, n=1):
        return f"did you mean {close[0]!r}?"
    return f"the parameters are {', '.join(known)}" if known else "this tool takes no parameters"


def _shorten_text(text: str, max_chars: int = 60) -> str:
    text = text.encode("utf-8", "backslashreplace").decode()  # a lone surrogate could not be sent to the caller
    return text if len(text) <= max_chars else f"{text[:max_chars]}… ({len(text)} characters)"
