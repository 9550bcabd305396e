"""What stands in an answer, with the type that the test expects it to have."""

from typing import Any

from mcp.types import CallToolResult, TextContent

from outrider.core.result import Resource, Result


def said(result: CallToolResult) -> str:
    """The first item's text."""
    first = result.content[0]
    assert isinstance(first, TextContent)
    return first.text


def error(result: CallToolResult) -> dict[str, Any]:
    """The error that programs get."""
    assert result.is_error
    return result.structured_content["error"]


def resources(result: Result) -> list[Resource]:
    """The items of a result that has only resources."""
    found = [item for item in result.content if isinstance(item, Resource)]
    assert len(found) == len(result.content)
    return found
