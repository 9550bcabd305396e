"""From what a model sent to the parameters of a tool, or an error that says what to send instead."""

import json
from collections.abc import Mapping
from contextlib import suppress
from difflib import get_close_matches
from types import NoneType
from typing import Any

from pydantic import BaseModel, ValidationError

from outrider.core.errors import InvalidInput

RAW_ARGUMENT = "raw"  # the one argument that hosts make of a text that they could not parse
LIST_ERROR, OBJECT_ERRORS = (
    "list_type",
    ("dict_type", "model_type", "model_attributes_type"),
)  # pydantic's kinds of errors
JSON_TYPE_NAMES = {
    list: "array",
    tuple: "array",
    str: "string",
    bool: "boolean",
    NoneType: "null",
}  # the rest are numbers


def parse_arguments(arguments: object) -> dict[str, Any]:
    """The arguments as a JSON object.

    Hosts send an object or its JSON text; an empty text or nothing means no arguments
    (docs/reference/protocol.md). Raises InvalidInput for JSON that does not parse or is no object.
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
    """The arguments as an instance of `model`; InvalidInput lists every wrong field with its remedy."""
    given = parse_arguments(arguments)
    try:
        return model.model_validate(given)
    except ValidationError as error:
        wrong = [dict(each) for each in error.errors(include_url=False)]
    if (meant := _meant(given, wrong)) != given:
        with suppress(ValidationError):
            return model.model_validate(meant)
    problems = [_describe_problem(each, model) for each in wrong]
    if given.keys() == {RAW_ARGUMENT}:
        parse_arguments(given[RAW_ARGUMENT])  # says what was wrong with it
    raise InvalidInput(
        f"{name}: " + "; ".join(f"{field}: {problem}" for field, problem, _ in problems),
        hint="; ".join(dict.fromkeys(remedy for _, _, remedy in problems)),
        details={"fields": [field for field, _, _ in problems]},
    )


def _meant(given: dict[str, Any], wrong: list[dict[str, Any]]) -> dict[str, Any]:
    """The arguments with what models send for a list or an object put right: its JSON as text, or its only item."""
    texts = {each["loc"][0]: each["type"] for each in wrong if len(each["loc"]) == 1 and isinstance(each["input"], str)}
    return given | {
        name: _coerce_text(kind, given[name]) for name, kind in texts.items() if kind in (LIST_ERROR, *OBJECT_ERRORS)
    }


def _coerce_text(kind: str, text: str) -> Any:
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        parsed = None
    if isinstance(parsed, list if kind == LIST_ERROR else dict):
        return parsed
    return [text] if kind == LIST_ERROR else text


def _describe_problem(error: dict[str, Any], model: type[BaseModel]) -> tuple[str, str, str]:
    """The field, what is wrong with it, and what to send instead."""
    field = _shorten_text(".".join(str(part) for part in error["loc"])) or "arguments"
    if error["type"] == "missing":
        return field, "is required", f"add {field!r}{_format_description(model, field)}"
    if error["type"] == "extra_forbidden":
        return field, "no such parameter", _suggest_parameter(model, field)
    reason = error["msg"].removeprefix("Value error, ")
    return (
        field,
        f"{reason} (got {_format_value(error['input'])})",
        f"correct {field!r}{_format_description(model, field)}",
    )


def _suggest_parameter(model: type[BaseModel], field: str) -> str:
    known = list(model.model_fields)
    close = get_close_matches(field, known, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"the parameters are {', '.join(known)}" if known else "this tool takes no parameters"


def _format_description(model: type[BaseModel], field: str) -> str:
    known = model.model_fields.get(field)
    return f" ({known.description})" if known and known.description else ""


def _format_value(value: object) -> str:
    try:
        return _shorten_text(json.dumps(value, ensure_ascii=False, default=str))
    except (TypeError, ValueError, RecursionError):  # given by a Python caller: no JSON, so only its kind is named
        return type(value).__name__


def _shorten_text(text: str) -> str:
    max_chars = 60  # characters of a wrong value or name that an error repeats
    text = text.encode("utf-8", "backslashreplace").decode()  # half a surrogate pair would not get back to the caller
    return text if len(text) <= max_chars else f"{text[:max_chars]}… ({len(text)} characters)"
