"""Explain wrong arguments: the field, what is wrong with it, and what to send instead."""

import json
import re
from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel

from outrider.core.argument_repair import LIST_TYPES, OBJECT_TYPES
from outrider.core.errors import InvalidInput
from outrider.core.parameter_names import find_nested_model

Place = tuple[str | int, ...]  # the names and positions that lead to a value


class WrongArguments(InvalidInput):
    """Arguments that do not fit a tool; `missing` are the required parameters that were not sent."""

    missing: tuple[str, ...] = ()


def describe_conflict(tool: str, place: Place, first: str, second: str) -> InvalidInput:
    """Build the error for one parameter that was sent in two spellings with different values."""
    path = format_path(place)
    return InvalidInput(
        f"{tool}: {shorten_text(first)} and {shorten_text(second)} both mean {path}, with different values",
        hint=f"send only {path}",
        details={"fields": [path]},
    )


def explain_problems(
    model: type[BaseModel], name: str, problems: list[dict[str, Any]], spellings: Mapping[Place, str]
) -> InvalidInput:
    """Build the error for all problems that pydantic found; `spellings` are the names that the caller wrote."""
    max_hint_chars = 240
    max_explained = 3  # problems in one error; a model corrects these first
    fields = [format_path(problem["loc"], spellings) for problem in problems]
    reasons = [
        f"{field}: {_describe_reason(problem)}"
        for field, problem in zip(fields, problems[:max_explained], strict=False)
    ]
    more = len(problems) - max_explained
    remedies = [_find_remedy(model, problem) for problem in problems[:max_explained]]
    hint = "; ".join(dict.fromkeys(filter(None, remedies)))
    error = WrongArguments(
        f"{name}: " + "; ".join(reasons) + (f"; and {more} more" if more > 0 else ""),
        hint=hint if len(hint) <= max_hint_chars else f"{hint[:max_hint_chars]}…",
        details={"fields": fields[:20]},
    )
    error.missing = tuple(
        field for field, problem in zip(fields, problems, strict=True) if problem["type"] == "missing"
    )
    return error


def format_path(place: Place, spellings: Mapping[Place, str] = MappingProxyType({})) -> str:
    """Return a place in the arguments as a path, as the caller wrote it: `replacements[0].startLine`."""
    path = ""
    for depth, name in enumerate(place, 1):
        part = spellings.get(place[:depth], name)
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    return shorten_text(path) or "arguments"


def shorten_text(text: str, max_chars: int = 60) -> str:
    """Return the beginning of a text in encodable form.

    A cut text is followed by its length.
    """
    text = text.encode("utf-8", "backslashreplace").decode()  # a lone surrogate could not be sent to the caller
    return text if len(text) <= max_chars else f"{text[:max_chars]}… ({len(text)} characters)"


def _describe_reason(problem: dict[str, Any]) -> str:
    if problem["type"] == "extra_forbidden":
        return "no such parameter"
    if problem["type"] == "missing":
        return "is required"
    if problem["input"] is None and isinstance(problem["loc"][-1], str):
        return "is required, not null"
    reason = problem["msg"].removeprefix("Value error, ")
    reason = re.sub(r"dictionary or instance of \w+", "object", reason)  # our classes mean nothing to callers
    try:
        value = shorten_text(json.dumps(problem["input"], ensure_ascii=False, default=str))
    except (TypeError, ValueError, RecursionError):  # an object of a Python caller that is not JSON: name its type
        value = type(problem["input"]).__name__
    return f"{reason} (got {value})"


def _find_remedy(model: type[BaseModel], problem: dict[str, Any]) -> str:
    location, field = problem["loc"], format_path(problem["loc"])
    if problem["type"] == "extra_forbidden":
        return _suggest_parameter(model, location)
    known = model.model_fields.get(field)
    description = f" ({known.description})" if known and known.description else ""
    parameter = model.model_fields.get(str(location[0])) if location else None
    has_fields = parameter is not None and find_nested_model(parameter.annotation) is not None
    is_malformed = problem["type"] == "missing" or problem["type"].endswith(("_type", "_parsing"))
    if parameter and (problem["type"] in (*LIST_TYPES, *OBJECT_TYPES) or (has_fields and is_malformed)):
        return f"send {location[0]} like {_build_field_example(model, str(location[0]))}"
    if problem["type"] == "missing" or problem["input"] is None:
        return f"add {field!r}{description}"
    return f"correct {field!r}{description}"


def _suggest_parameter(model: type[BaseModel], location: Place) -> str:
    """Suggest a name for an unknown field, among those of its object."""
    for part in location[:-1]:
        outer = model.model_fields.get(part) if isinstance(part, str) else None
        model = (outer and find_nested_model(outer.annotation)) or model
    known = list(model.model_fields)
    if not known:
        return "this tool takes no parameters"
    if close := get_close_matches(str(location[-1])[:100], known, n=1):
        return f"did you mean {close[0]!r}?"
    return f"the parameters are {', '.join(known)}"


def _build_field_example(model: type[BaseModel], parameter: str) -> str:
    """Return an example of a parameter's value as JSON, with its required fields."""
    schema = model.model_json_schema()
    field = schema["properties"].get(parameter, {})
    nested = find_nested_model(model.model_fields[parameter].annotation)
    if nested and field.get("type") == "object" and "properties" not in field:  # listed without its fields
        schema = field = nested.model_json_schema()
    return shorten_text(json.dumps(_build_example(field, schema.get("$defs", {})), ensure_ascii=False), 150)


def _build_example(schema: dict[str, Any], definitions: dict[str, Any], depth: int = 0) -> Any:
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    if options := schema.get("anyOf"):
        return _build_example(next(each for each in options if each.get("type") != "null"), definitions, depth)
    if choices := schema.get("enum") or [schema[key] for key in ("const",) if key in schema]:
        return choices[0]
    kind = schema.get("type")
    if kind == "array":
        return [_build_example(schema.get("items", {}), definitions, depth + 1)]
    if kind == "object":
        properties = schema.get("properties", {})
        example_names = list(schema.get("required", [])) or list(properties)[:2]
        if len(example_names) < 2:
            example_names = list(dict.fromkeys([*example_names, *properties]))[:3]
        if depth >= 4:
            return {}
        return {name: _build_example(properties[name], definitions, depth + 1) for name in example_names}
    return {"integer": schema.get("minimum", 1), "number": 1, "boolean": True}.get(str(kind), "…")
