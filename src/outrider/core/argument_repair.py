"""Repair values of a near type: text for a number, one item for a list, JSON text for an object."""

import json
import math
import re
import shlex
from collections.abc import Callable
from contextlib import suppress
from typing import Any, get_origin

from pydantic import BaseModel

from outrider.core.parameter_names import find_parameter, normalize_name

LIST_TYPES = ("list_type", "tuple_type", "set_type")
OBJECT_TYPES = ("dict_type", "model_type", "model_attributes_type")
UNCHANGED = object()
# Values of different tools that mean the same.
SAME_CHOICES = (
    frozenset({"set", "add", "put", "save", "setitem", "write"}),
    frozenset({"save", "store"}),
    frozenset({"delay", "throttle", "slow"}),
    frozenset({"down", "keydown"}),
    frozenset({"up", "keyup"}),
    frozenset({"again", "retry", "repeat"}),
    frozenset({"running", "active"}),
    frozenset({"full", "all", "fullpage", "complete"}),
    frozenset({"network", "requests"}),
    frozenset({"path", "folder", "directory"}),
    frozenset({"stackexchange", "stackoverflow"}),
    frozenset({"add", "create", "new", "open", "insert"}),
    frozenset({"remove", "delete", "rm", "unwatch"}),
    frozenset({"switch", "select", "activate", "focus"}),
    frozenset({"list", "get", "show", "read"}),
    frozenset({"start", "begin", "record"}),
    frozenset({"stop", "end", "finish"}),
    frozenset({"look", "check", "checknow", "runnow"}),
    frozenset({"changes", "diff", "history"}),
    frozenset({"wheel", "scroll"}),
    frozenset({"move", "hover"}),
    frozenset({"markdown", "md"}),
    frozenset({"text", "txt", "plain", "plaintext"}),
    frozenset({"html", "rawhtml", "raw", "source"}),
    frozenset({"image", "images", "picture", "pictures"}),
    frozenset({"web", "general", "all"}),
    frozenset({"a", "append"}),
    frozenset({"w", "write", "overwrite", "replace"}),
    frozenset({"append", "add"}),
    frozenset({"async", "background", "detached"}),
    frozenset({"sync", "foreground"}),
    frozenset({"background", "async"}),
    frozenset({"day", "d", "pd", "24h", "1d", "today", "pastday", "lastday", "past24hours", "qdr:d"}),
    frozenset({"week", "w", "pw", "7d", "1w", "pastweek", "lastweek", "qdr:w"}),
    frozenset({"month", "m", "pm", "30d", "1m", "pastmonth", "lastmonth", "qdr:m"}),
    frozenset({"year", "y", "py", "1y", "365d", "pastyear", "lastyear", "qdr:y"}),
    frozenset({"quick", "basic", "fast", "shallow"}),
    frozenset({"wide", "advanced", "deep", "comprehensive", "thorough"}),
    frozenset({"balanced", "medium", "standard", "normal"}),
    frozenset({"normal", "medium", "default"}),
    frozenset({"high", "urgent", "critical"}),
    frozenset({"done", "completed", "complete", "finished", "succeeded"}),
    frozenset({"finished", "completed", "complete", "exited", "done"}),
    frozenset({"dir", "directory", "directories", "folder", "folders", "d"}),
    frozenset({"file", "files", "f"}),
    frozenset({"both", "all", "any"}),
    frozenset({"head", "first"}),
    frozenset({"tail", "last"}),
    frozenset({"stderr", "err", "error", "errors"}),
    frozenset({"stdout", "out", "output"}),
    frozenset({"mock", "fulfill", "stub"}),
    frozenset({"block", "abort"}),
    frozenset({"list", "status"}),
    frozenset({"subdomains", "subdomain", "domain"}),
    frozenset({"host", "hostname", "samehost", "sameorigin"}),
    frozenset({"always", "true", "yes", "browser", "javascript", "js"}),
    frozenset({"never", "false", "no"}),
)
# By parameter, the separator that joins a list sent instead of a text.
SEPARATORS: dict[str | int, str] = {
    "command": "\n", "site": ", ", "exclude": ", ", "query": " ", "content": "\n", "code": "\n", "key": "+",
}  # fmt: skip


def repair_value(arguments: dict[str, Any], problem: dict[str, Any], notes: list[str]) -> bool:
    """Repair the value that pydantic refused, in place; return whether that was possible."""
    repair = REPAIRS.get(problem["type"])
    holder, key = _find_value(arguments, problem["loc"])
    if repair is None or holder is None or holder[key] is not problem["input"]:
        return False
    repaired = repair(holder[key], problem)
    if repaired is UNCHANGED:
        location, text = problem["loc"], problem["input"]
        max_chars = 10_000
        if len(location) != 2 or not isinstance(text, str) or "," not in text or len(text) > max_chars:
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
    """Describe the interpretation, without the value; empty for a number sent as text, or text sent as a number."""
    has_unit = error_type.endswith("_parsing") and isinstance(repaired, int | float) and not isinstance(repaired, bool)
    if has_unit or error_type == "literal_error":
        return f"{path} as {repaired}"
    if isinstance(sent, str) and isinstance(repaired, dict):
        return f"the JSON text of {path}"
    if isinstance(repaired, list):
        return f"{path} as a list"
    return f"the only item of {path}" if isinstance(sent, list) else ""


def _take_only_item(value: Any, problem: dict[str, Any]) -> Any:  # noqa: ARG001 - every repair has these parameters
    is_single = isinstance(value, list) and len(value) == 1 and isinstance(value[0], str | int | float | dict)
    return value[0] if is_single else UNCHANGED


def _write_text(value: Any, problem: dict[str, Any]) -> Any:
    """Return a number, an object, or a list of words as text."""
    parameter = problem["loc"][-1]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return json.dumps(value)
    if value == [] and parameter in ("body", "value"):
        return "[]"
    is_words = isinstance(value, list) and all(isinstance(each, str) for each in value)
    if is_words and len(value) != 1:
        return _join_words(value, parameter)
    if parameter in ("body", "content", "value") and isinstance(value, dict | list) and not is_words:
        with suppress(RecursionError):
            return json.dumps(value, indent=2, ensure_ascii=False)
    if not isinstance(value, dict):
        return _take_only_item(value, problem)
    single_value = next(iter(value.values()), None) if len(value) == 1 else None
    return single_value if isinstance(single_value, str) else _write_pair(value)


def _join_words(words: list[str], parameter: str | int) -> Any:
    """Return the items of a list as a single text."""
    if parameter == "command" and words and " " not in words[0]:
        is_shell = len(words) == 3 and words[0].endswith("sh") and words[1] in ("-c", "-lc")
        return words[2] if is_shell else shlex.join(words)
    if parameter == "query" and any(len(each.split()) > 2 for each in words):
        return UNCHANGED  # two questions, not the words of one
    return SEPARATORS[parameter].join(words) if parameter in SEPARATORS else UNCHANGED


def _write_pair(value: dict[str, Any]) -> Any:
    """Return a size as `1200x800`, and a place on the earth as `48.2,16.4`."""
    numbers = {normalize_name(str(key)[:20]): each for key, each in value.items()}
    if any(isinstance(each, bool) or not isinstance(each, int | float) for each in numbers.values()):
        return UNCHANGED
    if numbers.keys() == {"width", "height"}:
        return f"{numbers['width']}x{numbers['height']}"
    longitude = next((numbers[name] for name in ("longitude", "lng", "lon") if name in numbers), None)
    latitude = next((numbers[name] for name in ("latitude", "lat") if name in numbers), None)
    return UNCHANGED if latitude is None or longitude is None else f"{latitude},{longitude}"


def _read_number(value: Any, problem: dict[str, Any]) -> Any:
    """Return the number of a text with a unit, in the parameter's own unit."""
    if not isinstance(value, str):
        return _take_only_item(value, problem)
    if re.fullmatch(r"\s*(?:#[0-9]{1,9}|[0-9]{1,3}(?:,[0-9]{3}){1,4})\s*", value):
        return int(value.strip(" #").replace(",", ""))
    match = re.fullmatch(r"\s*([0-9]{1,12}(?:\.[0-9]{1,6})?)\s*([A-Za-z]{1,12})\.?\s*", value)
    factor = _find_factor(match[2].casefold(), str(problem["loc"][-1])) if match else None
    if match is None or factor is None:
        return UNCHANGED
    number = float(match[1]) * factor
    return math.ceil(number) if problem["type"].startswith("int") else number


def _find_factor(unit: str, parameter: str) -> float | None:
    """Return the factor for a unit; None for a unit that the parameter cannot have."""
    if re.search(r"seconds?$|timeout|(?:^|_)s$|Ms$", parameter, re.IGNORECASE) is None:
        counted = ("px", "pixel", "pixels", "char", "chars", "characters", "lines", "pages", "results", "items")
        return {"k": 1_000.0}.get(unit) or (1.0 if unit in counted else None)
    in_seconds = {"ms": 0.001, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
    short = re.sub(r"(?<=c)onds?$|(?<=n)utes?$|(?<=h)ours?$|(?<=[cnhr])s$", "", unit)
    seconds = in_seconds.get(short)
    return None if seconds is None else seconds * (1_000 if parameter.endswith("Ms") else 1)


def _read_truth(value: Any, problem: dict[str, Any]) -> Any:
    """Return whether a word for a state, such as `completed`, means true."""
    if not isinstance(value, str):
        return _take_only_item(value, problem)
    word = normalize_name(value[:20])
    if word in ("complete", "completed", "done", "finished"):
        return True
    return False if word in ("incomplete", "open", "pending", "todo") else UNCHANGED


def _wrap_item(value: Any, problem: dict[str, Any]) -> Any:  # noqa: ARG001
    if isinstance(value, dict) and value.keys() == {"x", "y"}:
        return [value["x"], value["y"]]
    if not isinstance(value, str):
        return [value]
    parsed = _parse_json(value)
    if isinstance(parsed, list):
        return parsed
    addresses = re.split(r"[\s,]+", value.strip()) if len(value) < 100_000 else []
    return addresses if len(addresses) > 1 and all("://" in each for each in addresses) else [value]


def _parse_object(value: Any, problem: dict[str, Any]) -> Any:
    parsed = _parse_json(value) if isinstance(value, str) else value
    is_names = isinstance(parsed, list) and parsed and all(isinstance(each, str) for each in parsed)
    if is_names and problem["loc"][-1] in ("output_schema", "fields"):
        return dict.fromkeys(parsed, "string")  # only the names of the wanted values
    return parsed if isinstance(parsed, dict) else _take_only_item(value, problem)


def _match_choice(value: Any, problem: dict[str, Any]) -> Any:
    """Return the only allowed value that fits a given one.

    It means the same, begins the same, or is a word of the given value.
    """
    if isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        return _take_only_item(value, problem)
    choices, folded = list_choices(problem), _fold_choice(value[:100])
    words = re.findall(r"[a-z0-9]+", value[:100].casefold())
    tests: tuple[Callable[[str], bool], ...] = (
        lambda choice: choice == folded,
        lambda choice: any(choice in same and folded in same for same in SAME_CHOICES),
        lambda choice: min(len(choice), len(folded)) >= 3 and (choice.startswith(folded) or folded.startswith(choice)),
        lambda choice: (
            choice in words and "," not in value and len(words) <= 4 and words[0] not in ("double", "not", "no")
        ),
    )
    for means_same in tests[:1] if "," in value else tests:
        matches = [choice for choice in choices if means_same(_fold_choice(choice))]
        if matches:
            return matches[0] if len(matches) == 1 else UNCHANGED
    return UNCHANGED


def list_choices(problem: dict[str, Any]) -> list[str]:
    """Return the allowed values, which pydantic only reports as prose."""
    return re.findall(r"'([^']*)'", problem["ctx"]["expected"])


def _fold_choice(text: str) -> str:
    return re.sub(r"[\s_-]", "", text).casefold()


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


# By pydantic's type of error, the function that returns the intended value, or UNCHANGED.
REPAIRS: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
    "literal_error": _match_choice,
    "string_type": _write_text,
    "bool_parsing": _read_truth,
    **dict.fromkeys(LIST_TYPES, _wrap_item),
    **dict.fromkeys(OBJECT_TYPES, _parse_object),
    **dict.fromkeys(("int_parsing", "float_parsing"), _read_number),
    **dict.fromkeys(("int_type", "float_type", "bool_type"), _take_only_item),
}


def pair_items(
    model: type[BaseModel], parameter: str, nested: type[BaseModel], value: dict[str, Any]
) -> list[dict[str, Any]] | None:
    """Return `{"Name": "Ann"}` as the items of a list of objects with a name and a value; None for anything else."""
    required = [name for name, field in nested.model_fields.items() if field.is_required()]
    is_list = get_origin(model.model_fields[parameter].annotation) in (list, tuple)
    if not is_list or len(required) != 2 or not value or any(find_parameter(nested, str(key)) for key in value):
        return None
    return [dict(zip(required, pair, strict=True)) for pair in value.items()]
