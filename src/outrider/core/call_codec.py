"""Encode calls and results as JSON for another process, and decode them.

Objects bound to a process (the progress callback, the client's own model) are not encoded.
"""

import base64
from collections.abc import Mapping
from typing import Any

from outrider.core.context import Call, RunContext
from outrider.core.grant import Grant
from outrider.core.questions import QuestionAnswer
from outrider.core.result import ImageBlock, LinkBlock, ResourceBlock, Result, ResultBlock, TextBlock

CALL_FIELDS = (
    *("session", "assistant", "thread", "workspace", "identity", "message"),
    *("answer", "is_answer_lasting", "state", "extra"),
)
BLOCK_TYPES: dict[str, type[ResultBlock]] = {
    "text": TextBlock,
    "image": ImageBlock,
    "resource": ResourceBlock,
    "link": LinkBlock,
}


def serialize_call(call: Call) -> dict[str, Any]:
    """Return the call as JSON-able data."""
    encoded: dict[str, Any] = {name: getattr(call, name) for name in CALL_FIELDS}
    return encoded | {
        "citations": list(call.citations) if call.citations else None,
        "answers": {question: vars(answer) for question, answer in call.answers.items()},
        "run": vars(call.run) | {"ancestors": list(call.run.ancestors)} if call.run else None,
        "grant": call.grant.to_dict() if call.grant else None,
    }


def parse_call(encoded: Mapping[str, Any], **local_fields: Any) -> Call:
    """Return the call that `serialize_call` encoded.

    Args:
        encoded: The data of `serialize_call`.
        local_fields: Fields of `Call` that only this process can supply, for instance `progress`.
    """
    run, citations = encoded["run"], encoded["citations"]
    values: dict[str, Any] = {name: encoded[name] for name in CALL_FIELDS if name in encoded}
    return Call(
        **values,
        citations=(citations[0], citations[1]) if citations else None,
        answers={question: QuestionAnswer(**answer) for question, answer in encoded["answers"].items()},
        run=RunContext(**(run | {"ancestors": tuple(run["ancestors"])})) if run else None,
        grant=Grant.from_dict(encoded["grant"]),
        **local_fields,
    )


def serialize_result(result: Result) -> dict[str, Any]:
    """Return the result as JSON-able data, pictures as base64."""
    blocks = []
    for block in result.content:
        kind = next(name for name, block_type in BLOCK_TYPES.items() if isinstance(block, block_type))
        encoded: dict[str, Any] = {"kind": kind, **vars(block)}
        if isinstance(block, ImageBlock):
            encoded["data"] = base64.b64encode(block.data).decode()
        blocks.append(encoded)
    return vars(result) | {"content": blocks}


def parse_result(encoded: Mapping[str, Any]) -> Result:
    """Return the result that `serialize_result` encoded."""
    blocks = []
    for item in encoded["content"]:
        values: dict[str, Any] = {name: value for name, value in item.items() if name != "kind"}
        if item["kind"] == "image":
            values["data"] = base64.b64decode(values["data"])
        blocks.append(BLOCK_TYPES[item["kind"]](**values))
    fields: dict[str, Any] = {**encoded, "content": tuple(blocks)}
    return Result(**fields)
