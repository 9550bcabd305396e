"""What another server says, in the shapes of the house."""

import base64
import binascii
from collections.abc import Sequence
from typing import Any

from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    Tool,
)

from outrider.agents.remote import RemoteTool, Send, effect_of, toolset_of
from outrider.core.result import Image, Item, Link, Resource, Result, Text
from outrider.core.untrusted import clean

READ = "read_resource"
DESCRIPTION = 2_000  # characters of a description that agents get to read
TITLE = 80


def tool_of(tool: Tool, name: str, server: str, send: Send, seconds: float) -> RemoteTool:
    """A tool as agents see it.

    Args:
        tool: As its server lists it.
        name: What it is called here.
        server: Its server's name.
        send: Sends a call.
        seconds: How long a call may take.
    """
    hints = tool.annotations
    effect, stake = effect_of(
        reads=hints.read_only_hint if hints else None, destroys=hints.destructive_hint if hints else None
    )
    title = clean(tool.title or (hints.title if hints else None) or tool.name)[:TITLE]
    words = clean(tool.description or "")
    return RemoteTool(
        name,
        title,
        words if len(words) <= DESCRIPTION else f"{words[:DESCRIPTION]}…",
        effect,
        send,
        stake=stake,
        timeout=seconds,
        open_world=not hints or hints.open_world_hint is not False,
        untrusted=True,
        toolset=toolset_of(server),
        original=tool.name,
        takes=_object(tool.input_schema),
        idempotent=bool(hints and hints.idempotent_hint),
    )


def reader_of(name: str, server: str, send: Send, seconds: float) -> RemoteTool:
    """A tool that reads what results of a server only name; the arguments are those of `tool_of`."""
    takes = {"type": "object", "properties": {"uri": {"type": "string"}}, "required": ["uri"]}
    words = f"Read a resource of {server}: an address that one of its results names."
    return RemoteTool(
        name,
        "Read a resource",
        words,
        "read",
        send,
        timeout=seconds,
        untrusted=True,
        toolset=toolset_of(server),
        original=READ,
        takes=takes,
        idempotent=True,
    )


def resources_of(contents: Sequence[Any]) -> Result:
    """What stands in a resource."""
    return Result(tuple(_resource(each) for each in contents))


def result_of(answer: CallToolResult) -> Result:
    """A result: what can be read, pictures, and pointers; all of it was written by others."""
    items = tuple(_item(each) for each in answer.content)
    data = answer.structured_content if isinstance(answer.structured_content, dict) else {}
    return Result(items, data=data, is_error=bool(answer.is_error))


def _object(schema: Any) -> dict[str, Any]:
    """The schema of the arguments, which are an object whatever the server wrote."""
    found = dict(schema) if isinstance(schema, dict) else {}
    return found if found.get("type") == "object" else found | {"type": "object"}


def _item(block: Any) -> Item:
    match block:
        case TextContent():
            return Text(clean(block.text))
        case ImageContent():
            return _picture(block.data, block.mime_type)
        case AudioContent():
            return Text(f"[sound, {block.mime_type}: not readable here]")
        case ResourceLink():
            return Link(str(block.uri), clean(block.name), block.mime_type or "", block.size)
        case EmbeddedResource():
            return _resource(block.resource)
        case _:
            return Text(f"[content of a kind that is not known here: {type(block).__name__}]")


def _resource(resource: Any) -> Item:
    kind = resource.mime_type or "text/plain"
    if not isinstance(resource, BlobResourceContents):
        return Resource(str(resource.uri), kind, clean(resource.text))
    if kind.startswith("image/"):
        return _picture(resource.blob, kind)
    return Text(f"[{kind} {resource.uri}: not readable here]")


def _picture(data: str, kind: str) -> Item:
    try:
        return Image(base64.b64decode(data, validate=True), kind)
    except (binascii.Error, ValueError):
        return Text(f"[picture, {kind}: broken]")
