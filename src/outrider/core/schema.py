"""JSON Schemas for models to read: every token of a tool list is paid for in every conversation."""

from typing import Any

from pydantic import TypeAdapter

NOISE = {"title"}


def input_schema(adapter: TypeAdapter[Any]) -> dict[str, Any]:
    """The schema of a tool's parameters, without generated titles and nullable wrappers."""
    schema = _compact(adapter.json_schema())
    schema.setdefault("properties", {})
    return schema


def output_schema(adapter: TypeAdapter[Any]) -> dict[str, Any]:
    """The schema of a tool's structured result, as it is serialised."""
    return _compact(adapter.json_schema(mode="serialization"))


def _compact(node: Any, *, names: bool = False) -> Any:
    """The node without noise; `names` marks a mapping whose keys are property names, not keywords."""
    if isinstance(node, list):
        return [_compact(each) for each in node]
    if not isinstance(node, dict):
        return node
    if names:
        return {name: _compact(value) for name, value in node.items()}
    node = _without_null(node)
    return {
        key: _compact(value, names=key in {"properties", "$defs"})
        for key, value in node.items()
        if not (key in NOISE and isinstance(value, str))
    }


def _without_null(node: dict[str, Any]) -> dict[str, Any]:
    """`X | None = None` as an optional X: leaving the field out says the same."""
    options = [each for each in node.get("anyOf", []) if each != {"type": "null"}]
    if "anyOf" not in node or len(options) == len(node["anyOf"]) or len(options) != 1:
        return node
    rest = {key: value for key, value in node.items() if key not in {"anyOf", "default"}}
    return options[0] | rest
