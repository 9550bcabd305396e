"""JSON Schemas for models to read: every token of a tool list is paid for in every conversation."""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

_schema_files: dict[str, Path] = {}


def register_schemas(package: str, file: Path) -> None:
    """Tells where the schemas of a package's tools stand ready-made: to build one costs two milliseconds of a start.

    Args:
        package: The package's name, for instance `outrider.toolsets`.
        file: JSON: by module and function (`outrider.toolsets.web:web_search`) an object with `input` and `output`.
    """
    _schema_files[package] = file


def find_schemas(function: str) -> dict[str, Any] | None:
    """Return the ready-made schemas of a tool by its module and function, or None where there are none."""
    files = (file for package, file in _schema_files.items() if function.startswith(f"{package}."))
    file = next(files, None)
    return _read_schema_file(file).get(function) if file else None


@lru_cache
def _read_schema_file(file: Path) -> dict[str, Any]:
    return json.loads(file.read_bytes()) if file.exists() else {}


def build_input_schema(adapter: TypeAdapter[Any]) -> dict[str, Any]:
    """The schema of a tool's parameters, without generated titles and nullable wrappers."""
    schema = _compact_node(adapter.json_schema(), optional=True)
    schema.setdefault("properties", {})
    return schema


def build_output_schema(adapter: TypeAdapter[Any]) -> dict[str, Any]:
    """The schema of a tool's structured result, as it is serialised: a null that may come stays named.

    What the result is as a whole, the tool's own description says.
    """
    schema = _compact_node(adapter.json_schema(mode="serialization"), optional=False)
    return {key: value for key, value in schema.items() if key != "description"}


def _compact_node(node: Any, *, optional: bool) -> Any:
    """The node without titles; with `optional`, also without the null that only means "left out"."""
    if isinstance(node, list):
        return [_compact_node(each, optional=optional) for each in node]
    if not isinstance(node, dict):
        return node
    node = _remove_null(node) if optional else node
    kept = ((key, value) for key, value in node.items() if not _is_redundant(key, value, optional=optional))
    return {key: _compact_value(key, value, optional=optional) for key, value in kept}


def _is_redundant(key: str, value: Any, *, optional: bool) -> bool:
    """Whether a keyword tells a model nothing: generated titles, what is so anyway, a result's defaults."""
    if key == "title":
        return isinstance(value, str)
    return (key == "additionalProperties" and value is True) or (key == "default" and not optional)


def _compact_value(key: str, value: Any, *, optional: bool) -> Any:
    value_keywords = frozenset({"default", "const", "enum", "examples"})  # what they hold is data, not a schema
    name_keywords = frozenset({"properties", "$defs", "patternProperties"})  # their keys are names, not keywords
    if key in value_keywords:
        return value
    if key in name_keywords:
        return {name: _compact_node(each, optional=optional) for name, each in value.items()}
    return _compact_node(value, optional=optional)


def _remove_null(node: dict[str, Any]) -> dict[str, Any]:
    """`X | None = None` as an optional X: leaving the field out says the same."""
    null_schema = {"type": "null"}
    options = [each for each in node.get("anyOf", []) if each != null_schema]
    if node.get("default", ...) is not None or not options:
        return node
    rest = {key: value for key, value in node.items() if key not in {"anyOf", "default"}}
    return options[0] | rest if len(options) == 1 else {"anyOf": options} | rest
