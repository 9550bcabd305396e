"""Read the parts of a result with the types that the test expects."""

from typing import Any

from mcp.types import CallToolResult, TextContent

from outrider.core.errors import ERROR_META_KEY
from outrider.core.result import ResourceBlock, Result


def read_first_text(result: CallToolResult) -> str:
    """Return the first item's text."""
    first = result.content[0]
    assert isinstance(first, TextContent)
    return first.text


def read_error(result: CallToolResult) -> dict[str, Any]:
    """Return the error for programs."""
    assert result.is_error
    return result.structured_content["error"] | (result.meta or {}).get(ERROR_META_KEY, {})


def list_resources(result: Result) -> list[ResourceBlock]:
    """Return the items of a result that only has resources."""
    found = [item for item in result.content if isinstance(item, ResourceBlock)]
    assert len(found) == len(result.content)
    return found


def read_text(result: CallToolResult) -> str:
    """Return the text of all items."""
    return "\n".join(item.text for item in result.content if isinstance(item, TextContent))
