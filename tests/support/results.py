"""Read the parts of an answer with the types that the test expects."""

from typing import Any

from mcp.types import CallToolResult, TextContent

from outrider.core.errors import ERROR_META_KEY
from outrider.core.result import ResourceBlock, Result


def read_first_text(result: CallToolResult) -> str:
    """The first item's text."""
    first = result.content[0]
    assert isinstance(first, TextContent)
    return first.text


def read_error(result: CallToolResult) -> dict[str, Any]:
    """The error that programs get."""
    assert result.is_error
    return result.structured_content["error"] | (result.meta or {}).get(ERROR_META_KEY, {})


def list_resources(result: Result) -> list[ResourceBlock]:
    """The items of a result that has only resources."""
    found = [item for item in result.content if isinstance(item, ResourceBlock)]
    assert len(found) == len(result.content)
    return found


def read_text(result: CallToolResult) -> str:
    """The text of all items."""
    return "\n".join(item.text for item in result.content if isinstance(item, TextContent))
