"""Build compact JSON Schemas, because models read every tool's in each conversation."""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

DATA_KEYWORDS = frozenset({"default", "const", "enum", "examples"})  # their values are data, not schemas
_schema_files: dict[str, Path] = {}


def register_schemas(package: str, file: Path) -> None:
    """Register a package's prebuilt schemas.

    This saves building them at each start.

    Args:
        package: The package's name, for instance `outrider.toolsets`.
        file: JSON: by module and function (`outrider.toolsets.web:web_search`) an object with `input` and `output`.
    """
    _schema_files[package] = file


def find_schemas(function: str) -> dict[str, Any] | None:
    """Return a tool's prebuilt schemas by module and function, if any."""
    files = (file for package, file in _schema_files.items() if function.startswith(f"{package}."))
    file = next(files, None)
    return _read_schema_file(file).get(function) if file else None


@lru_cache
def _read_schema_file(file: Path) -> dict[str, Any]:
    return json.loads(file.read_bytes()) if file.exists() else {}


def build_input_schema(adapter: TypeAdapter[Any]) -> dict[str, Any]:
    """Return the schema of a tool's parameters, without generated titles, nullable wrappers and references."""
    schema = _inline_definitions(_compact_node(adapter.json_schema(), optional=True))
    schema.setdefault("properties", {})
    return schema


def build_output_schema(adapter: TypeAdapter[Any]) -> dict[str, Any]:
    """Return the schema of a tool's serialized result, with every possible null and without references.

    It has no description, because the tool's description covers it.
    """
    schema = _inline_definitions(_compact_node(adapter.json_schema(mode="serialization"), optional=False))
    return {key: value for key, value in schema.items() if key != "description"}


def _inline_definitions(schema: dict[str, Any]) -> dict[str, Any]:
    """Inline each definition, because several hosts do not resolve references.

    A definition inside itself becomes an object without a schema.
    """
    definitions = schema.get("$defs", {})

    def inline_node(node: Any, outer: tuple[str, ...] = ()) -> Any:
        if isinstance(node, list):
            return [inline_node(item, outer) for item in node]
        if not isinstance(node, dict):
            return node
        if isinstance(node.get("$ref"), str):
            name = node["$ref"].rpartition("/")[2]
            rest = {key: value for key, value in node.items() if key != "$ref"}
            return ({"type": "object"} if name in outer else inline_node(definitions[name], (*outer, name))) | rest
        return {key: value if key in DATA_KEYWORDS else inline_node(value, outer) for key, value in node.items()}

    return inline_node({key: value for key, value in schema.items() if key != "$defs"})


def _compact_node(node: Any, *, optional: bool) -> Any:
    """Return the node without titles; with `optional`, also without nulls that only mean "left out"."""
    if isinstance(node, list):
        return [_compact_node(item, optional=optional) for item in node]
    if not isinstance(node, dict):
        return node
    if optional:
        node = _remove_null(node)
    compact: dict[str, Any] = {}
    for key, value in node.items():
        is_generated_title = key == "title" and isinstance(value, str)
        is_implied = key == "additionalProperties" and value is True
        if is_generated_title or is_implied or (key == "default" and not optional):
            continue
        if key in DATA_KEYWORDS:
            compact[key] = value
        elif key in {"properties", "$defs", "patternProperties"}:  # keys are names, not keywords
            compact[key] = {name: _compact_node(schema, optional=optional) for name, schema in value.items()}
        else:
            compact[key] = _compact_node(value, optional=optional)
    return compact


def _remove_null(node: dict[str, Any]) -> dict[str, Any]:
    """Turn `X | None = None` into an optional X.

    This is possible because leaving the field out means the same.
    """
    options = [option for option in node.get("anyOf", []) if option != {"type": "null"}]
    if node.get("default", ...) is not None or not options:
        return node
    rest = {key: value for key, value in node.items() if key not in {"anyOf", "default"}}
    return options[0] | rest if len(options) == 1 else {"anyOf": options} | rest
