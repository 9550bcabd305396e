"""Convert tools, results and errors to protocol types."""

import base64
from typing import Any

from mcp_types import (
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
    Tool,
    ToolAnnotations,
)

from outrider.core.errors import ERROR_META_KEY, OutriderError, shorten_error
from outrider.core.result import ImageBlock, LinkBlock, ResourceBlock, Result, ResultBlock, TextBlock
from outrider.core.text import count_tokens
from outrider.core.tool import Tool as OutriderTool
from outrider.core.untrusted import UNTRUSTED_META_KEY as UNTRUSTED

FIELDS_META_KEY = "outrider/fields"


def build_tool_entry(tool: OutriderTool, name: str) -> Tool:
    """Build a tool's entry in `tools/list`, without hints that equal the protocol's defaults and would cost tokens."""
    open_world = None if tool.open_world else False
    if tool.effect == "read":
        annotations = ToolAnnotations(read_only_hint=True, open_world_hint=open_world)
    else:
        annotations = ToolAnnotations(destructive_hint=tool.effect == "act", open_world_hint=open_world)
    meta = {"anthropic/alwaysLoad": tool.always_load, "anthropic/maxResultSizeChars": tool.max_result_chars}
    return Tool(
        name=name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=_allow_errors(tool.output_schema),
        annotations=annotations,
        _meta={name: value for name, value in meta.items() if value} or None,
    )


def _allow_errors(output_schema: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the schema without required fields, which an error's data lacks.

    The TypeScript SDK checks the data of errors, too, and replaces a result that does not match by its own message.
    """
    return output_schema and {key: value for key, value in output_schema.items() if key != "required"}


def count_entry_tokens(entry: Tool) -> int:
    """Return a tool's cost in every conversation: o200k tokens of its entry as JSON."""
    return count_tokens(entry.model_dump_json(by_alias=True, exclude_none=True))


def to_call_result(result: Result, tool: OutriderTool) -> CallToolResult:
    """Convert a tool's result."""
    meta = result.meta | ({UNTRUSTED: True} if tool.untrusted else {})
    return CallToolResult(
        content=[to_content_block(item) for item in result.content],
        structured_content=result.data or None,
        is_error=result.is_error,
        _meta=meta or None,
    )


def to_error_result(error: OutriderError) -> CallToolResult:
    """Convert an error to text, the same as data, and facts.

    The text is the problem, then the next move; the facts are for programs.
    """
    error = shorten_error(error)
    text = f"{error.message}\n{error.hint}" if error.hint else error.message
    data, facts = error.split_for_model()
    return CallToolResult(
        content=[TextContent(text=text)],
        structured_content={"error": data},
        is_error=True,
        _meta={ERROR_META_KEY: facts} if facts else None,
    )


def build_bug_result(tool: str, incident: str) -> CallToolResult:
    """Build the result of an internal error: no traceback, but a number to find it in the log."""
    message = f"{tool} failed on our side (incident {incident})"
    hint = "do not repeat the same call; the server's log has the details under that number"
    error = {"code": "bug", "message": message, "hint": hint, "retryable": False, "incident": incident}
    return CallToolResult(
        content=[TextContent(text=f"{message}\n{hint}")], structured_content={"error": error}, is_error=True
    )


def to_content_block(item: ResultBlock) -> ContentBlock:
    """Convert one content item."""
    match item:
        case TextBlock():
            return TextContent(text=item.text, _meta=item.meta or None)
        case ImageBlock():
            return ImageContent(data=encode_base64(item.data), mime_type=item.mime_type)
        case LinkBlock():
            return ResourceLink(uri=item.uri, name=item.name, mime_type=item.mime_type, size=item.size)
        case ResourceBlock():
            meta = item.meta | ({FIELDS_META_KEY: item.fields} if item.fields else {})
            contents = TextResourceContents(uri=item.uri, mime_type=item.mime_type, text=item.text, _meta=meta or None)
            return EmbeddedResource(resource=contents)


def encode_base64(data: bytes) -> str:
    """Encode bytes as base64 text."""
    return base64.b64encode(data).decode()
