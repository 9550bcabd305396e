"""A tool's result as JSON, for another process, and back."""

import base64
from collections.abc import Mapping
from typing import Any

from outrider.core.result import Image, Item, Link, Resource, Result, Text

KINDS: dict[str, type[Item]] = {"text": Text, "image": Image, "resource": Resource, "link": Link}


def result_facts(result: Result) -> dict[str, Any]:
    """The result as JSON."""
    return vars(result) | {"content": [_written(item) for item in result.content]}


def carried_result(facts: Mapping[str, Any]) -> Result:
    """The result that `result_facts` told of."""
    given: dict[str, Any] = {**facts, "content": tuple(_read(each) for each in facts["content"])}
    return Result(**given)


def _written(item: Item) -> dict[str, Any]:
    kind = next(name for name, each in KINDS.items() if isinstance(item, each))
    facts: dict[str, Any] = {"kind": kind, **vars(item)}
    return facts | {"data": base64.b64encode(item.data).decode()} if isinstance(item, Image) else facts


def _read(facts: Mapping[str, Any]) -> Item:
    given: dict[str, Any] = {name: value for name, value in facts.items() if name != "kind"}
    if facts["kind"] == "image":
        given["data"] = base64.b64decode(given["data"])
    return KINDS[facts["kind"]](**given)
