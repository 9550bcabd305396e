"""Repair values of a near type: text for a number, one item for a list, JSON text for an object."""

import json
import re
from collections.abc import Callable
from typing import Any

LIST_TYPES = ("list_type", "tuple_type", "set_type")
OBJECT_TYPES = ("dict_type", "model_type", "model_attributes_type")
UNCHANGED = object()


def repair_value(arguments: dict[str, Any], problem: dict[str, Any], notes: list[str]) -> bool:
    """Change the value that pydantic refused, in place; return whether it could be understood."""
    repair = REPAIRS.get(problem["type"])
    holder, key = _find_value(arguments, problem["loc"])
    if repair is None or holder is None or holder[key] is not problem["input"]:
        return False
    repaired = repair(holder[key], problem)
    if repaired is UNCHANGED:
        location, text = problem["loc"], problem["input"]
        if len(location) != 2 or not isinstance(text, str) or "," not in text:
            return False
        items = arguments.get(location[0])
        if not isinstance(items, list) or len(items) != 1 or problem["type"] not in ("literal_error", "int_parsing"):
            return False
        arguments[location[0]] = [part.strip() for part in text.split(",") if part.strip()]
        notes.append(f"{location[0]} as a list")
        return True
    path = ".".join(str(part) for part in problem["loc"] if not isinstance(part, int))
    if note := _describe_repair(path, holder[key], repaired, problem["type"]):
        notes.append(note)
    holder[key] = repaired
    return True


def _find_value(arguments: Any, location: tuple[Any, ...]) -> tuple[Any, Any]:
    """Return the container and key of a value; (None, None) if the arguments have no such place.

    Pydantic's location also names the branch of a union that was tried, which is skipped.
    """
    holder, key, value = None, None, arguments
    for part in location:
        if (isinstance(value, dict) and part in value) or (
            isinstance(value, list) and isinstance(part, int) and part < len(value)
        ):
            holder, key, value = value, part, value[part]
    return holder, key


def _describe_repair(path: str, sent: Any, repaired: Any, error_type: str) -> str:
    """Describe what was understood, without the value; empty for a number that came as text, or text as a number."""
    if error_type == "literal_error":
        return f"{path} as {repaired}"
    if isinstance(sent, str) and isinstance(repaired, dict):
        return f"the JSON text of {path}"
    if isinstance(repaired, list):
        return f"{path} as a list"
    return f"the only item of {path}" if isinstance(sent, list) else ""


def _take_only_item(value: Any, problem: dict[str, Any]) -> Any:  # noqa: ARG001 - every repair has these parameters
    is_single = isinstance(value, list) and len(value) == 1 and isinstance(value[0], str | int | float | dict)
    return value[0] if is_single else UNCHANGED


def _write_number(value: Any, problem: dict[str, Any]) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return json.dumps(value)
    return _take_only_item(value, problem)


def _wrap_item(value: Any, problem: dict[str, Any]) -> Any:  # noqa: ARG001
    if not isinstance(value, str):
        return [value]
    parsed = _parse_json(value)
    return parsed if isinstance(parsed, list) else [value]


def _parse_object(value: Any, problem: dict[str, Any]) -> Any:
    parsed = _parse_json(value) if isinstance(value, str) else None
    return parsed if isinstance(parsed, dict) else _take_only_item(value, problem)


def _match_choice(value: Any, problem: dict[str, Any]) -> Any:
    """Return the only allowed value that differs in case and separators alone."""
    if not isinstance(value, str):
        return _take_only_item(value, problem)
    matches = [choice for choice in list_choices(problem) if _fold_choice(choice) == _fold_choice(value)]
    return matches[0] if len(matches) == 1 else UNCHANGED


def list_choices(problem: dict[str, Any]) -> list[str]:
    """Return the allowed values, which pydantic tells in words only."""
    return re.findall(r"'([^']*)'", problem["ctx"]["expected"])


def _fold_choice(text: str) -> str:
    return re.sub(r"[\s_-]", "", text).casefold()


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


# By pydantic's type of error the function that returns the value as it was meant, or UNCHANGED.
REPAIRS: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
    "literal_error": _match_choice,
    "string_type": _write_number,
    **dict.fromkeys(LIST_TYPES, _wrap_item),
    **dict.fromkeys(OBJECT_TYPES, _parse_object),
    **dict.fromkeys(("int_type", "float_type", "bool_type", "int_parsing", "float_parsing"), _take_only_item),
}
