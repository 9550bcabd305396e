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

from outrider.agents.remote_tools import RemoteTool, SendRemoteCall, build_toolset_name, classify_effect
from outrider.core.result import ImageBlock, LinkBlock, ResourceBlock, Result, ResultBlock, TextBlock
from outrider.core.untrusted import clean_untrusted

READ_RESOURCE_TOOL = "read_resource"


def build_remote_tool(tool: Tool, name: str, server: str, send: SendRemoteCall, seconds: float) -> RemoteTool:
    """A tool as agents see it.

    Args:
        tool: As its server lists it.
        name: What it is called here.
        server: Its server's name.
        send: Sends a call.
        seconds: How long a call may take.
    """
    max_title_chars = 80
    max_description_chars = 2_000  # characters of a description that agents get to read
    hints = tool.annotations
    effect, stake = classify_effect(
        reads=hints.read_only_hint if hints else None, destroys=hints.destructive_hint if hints else None
    )
    title = clean_untrusted(tool.title or (hints.title if hints else None) or tool.name)[:max_title_chars]
    words = clean_untrusted(tool.description or "")
    return RemoteTool(
        name,
        title,
        words if len(words) <= max_description_chars else f"{words[:max_description_chars]}…",
        effect,
        send,
        stake=stake,
        timeout=seconds,
        open_world=not hints or hints.open_world_hint is not False,
        untrusted=True,
        toolset=build_toolset_name(server),
        remote_name=tool.name,
        arguments_schema=_ensure_object_schema(tool.input_schema),
        idempotent=bool(hints and hints.idempotent_hint),
    )


def build_resource_reader(name: str, server: str, send: SendRemoteCall, seconds: float) -> RemoteTool:
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
        toolset=build_toolset_name(server),
        remote_name=READ_RESOURCE_TOOL,
        arguments_schema=takes,
        idempotent=True,
    )


def to_resource_result(contents: Sequence[Any]) -> Result:
    """What stands in a resource."""
    return Result(tuple(_to_resource_item(each) for each in contents))


def to_result(answer: CallToolResult) -> Result:
    """A result: what can be read, pictures, and pointers; all of it was written by others."""
    items = tuple(_to_item(each) for each in answer.content)
    data = answer.structured_content if isinstance(answer.structured_content, dict) else {}
    return Result(items, data=data, is_error=bool(answer.is_error))


def _ensure_object_schema(schema: Any) -> dict[str, Any]:
    """The schema of the arguments, which are an object whatever the server wrote."""
    found = dict(schema) if isinstance(schema, dict) else {}
    return found if found.get("type") == "object" else found | {"type": "object"}


def _to_item(block: Any) -> ResultBlock:
    match block:
        case TextContent():
            return TextBlock(clean_untrusted(block.text))
        case ImageContent():
            return _decode_image(block.data, block.mime_type)
        case AudioContent():
            return TextBlock(f"[sound, {block.mime_type}: not readable here]")
        case ResourceLink():
            return LinkBlock(str(block.uri), clean_untrusted(block.name), block.mime_type or "", block.size)
        case EmbeddedResource():
            return _to_resource_item(block.resource)
        case _:
            return TextBlock(f"[content of a kind that is not known here: {type(block).__name__}]")


def _to_resource_item(resource: Any) -> ResultBlock:
    kind = resource.mime_type or "text/plain"
    if not isinstance(resource, BlobResourceContents):
        return ResourceBlock(str(resource.uri), kind, clean_untrusted(resource.text))
    if kind.startswith("image/"):
        return _decode_image(resource.blob, kind)
    return TextBlock(f"[{kind} {resource.uri}: not readable here]")


def _decode_image(data: str, kind: str) -> ResultBlock:
    try:
        return ImageBlock(base64.b64decode(data, validate=True), kind)
    except (binascii.Error, ValueError):
        return TextBlock(f"[picture, {kind}: broken]")
