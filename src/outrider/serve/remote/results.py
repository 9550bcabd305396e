"""Convert tools and results of other MCP servers."""

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
    """Build a tool for agents.

    Args:
        tool: The server's entry.
        name: The tool's name here.
        server: The server's name.
        send: Sends a call.
        seconds: Time limit of a call.
    """
    max_title_chars, max_description_chars = 80, 2_000
    hints = tool.annotations
    effect, stake = classify_effect(
        reads=hints.read_only_hint if hints else None, destroys=hints.destructive_hint if hints else None
    )
    title = clean_untrusted(tool.title or (hints.title if hints else None) or tool.name)[:max_title_chars]
    description = clean_untrusted(tool.description or "")
    if len(description) > max_description_chars:
        description = f"{description[:max_description_chars]}…"
    schema: dict[str, Any] = dict(tool.input_schema) if isinstance(tool.input_schema, dict) else {}
    return RemoteTool(
        name,
        title,
        description,
        effect,
        send,
        stake=stake,
        timeout=seconds,
        open_world=not hints or hints.open_world_hint is not False,
        untrusted=True,
        toolset=build_toolset_name(server),
        remote_name=tool.name,
        arguments_schema=schema | {"type": "object"},  # arguments are an object, even if the server declares otherwise
        idempotent=bool(hints and hints.idempotent_hint),
    )


def build_resource_reader(name: str, server: str, send: SendRemoteCall, seconds: float) -> RemoteTool:
    """Build a tool that reads resources of a server; the arguments are those of `build_remote_tool`."""
    return RemoteTool(
        name,
        "Read a resource",
        f"Read a resource of {server} by the address in one of its results.",
        "read",
        send,
        timeout=seconds,
        untrusted=True,
        toolset=build_toolset_name(server),
        remote_name=READ_RESOURCE_TOOL,
        arguments_schema={"type": "object", "properties": {"uri": {"type": "string"}}, "required": ["uri"]},
        idempotent=True,
    )


def to_resource_result(contents: Sequence[Any]) -> Result:
    """Convert the contents of a resource."""
    return Result(tuple(map(_to_resource_item, contents)))


def to_result(answer: CallToolResult) -> Result:
    """Convert a result: texts, pictures and links."""
    items = tuple(map(_to_item, answer.content))
    data = answer.structured_content if isinstance(answer.structured_content, dict) else {}
    return Result(items, data=data, is_error=bool(answer.is_error))


def _to_item(block: Any) -> ResultBlock:
    match block:
        case TextContent():
            return TextBlock(clean_untrusted(block.text))
        case ImageContent():
            return _decode_image(block.data, block.mime_type)
        case AudioContent():
            return TextBlock(f"[sound, {block.mime_type}: cannot be read here]")
        case ResourceLink():
            return LinkBlock(str(block.uri), clean_untrusted(block.name), block.mime_type or "", block.size)
        case EmbeddedResource():
            return _to_resource_item(block.resource)
        case _:
            return TextBlock(f"[content of unknown type: {type(block).__name__}]")


def _to_resource_item(resource: Any) -> ResultBlock:
    kind = resource.mime_type or "text/plain"
    if not isinstance(resource, BlobResourceContents):
        return ResourceBlock(str(resource.uri), kind, clean_untrusted(resource.text))
    if kind.startswith("image/"):
        return _decode_image(resource.blob, kind)
    return TextBlock(f"[{kind} {resource.uri}: cannot be read here]")


def _decode_image(data: str, kind: str) -> ResultBlock:
    try:
        return ImageBlock(base64.b64decode(data, validate=True), kind)
    except (binascii.Error, ValueError):
        return TextBlock(f"[picture, {kind}: broken]")
