"""A tool's result as JSON, for another process, and back."""

import base64
from collections.abc import Mapping
from typing import Any

from outrider.core.result import ImageBlock, LinkBlock, ResourceBlock, Result, ResultBlock, TextBlock

BLOCK_TYPES: dict[str, type[ResultBlock]] = {
    "text": TextBlock,
    "image": ImageBlock,
    "resource": ResourceBlock,
    "link": LinkBlock,
}


def serialize_result(result: Result) -> dict[str, Any]:
    """The result as JSON."""
    return vars(result) | {"content": [_serialize_block(item) for item in result.content]}


def parse_result(facts: Mapping[str, Any]) -> Result:
    """The result that `result_facts` told of."""
    given: dict[str, Any] = {**facts, "content": tuple(_parse_block(each) for each in facts["content"])}
    return Result(**given)


def _serialize_block(item: ResultBlock) -> dict[str, Any]:
    kind = next(name for name, each in BLOCK_TYPES.items() if isinstance(item, each))
    facts: dict[str, Any] = {"kind": kind, **vars(item)}
    return facts | {"data": base64.b64encode(item.data).decode()} if isinstance(item, ImageBlock) else facts


def _parse_block(facts: Mapping[str, Any]) -> ResultBlock:
    given: dict[str, Any] = {name: value for name, value in facts.items() if name != "kind"}
    if facts["kind"] == "image":
        given["data"] = base64.b64decode(given["data"])
    return BLOCK_TYPES[facts["kind"]](**given)
