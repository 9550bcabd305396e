"""Replace lone surrogates, which JSON cannot encode.

One in a result would end the whole connection, and a message with one would be dropped, so that its client would wait
forever. They come from file names that are not UTF-8, and from clients that cut a text within a character.
"""

import re
from typing import Any

from mcp.server import ServerRequestContext
from mcp.server.context import CallNext, HandlerResult
from mcp.shared.exceptions import MCPError
from pydantic_core import to_json

SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
# Matches every escape as a whole, so that none is mistaken for the end of another.
JSON_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
)


def replace_surrogate_escapes(line: str) -> str:
    """Replace escaped lone surrogates, which RFC 8259 allows, by U+FFFD in a line of JSON."""
    if not SURROGATE_ESCAPE.search(line):
        return line
    return JSON_ESCAPE.sub(lambda match: "\\ufffd" if match[1] else match[0], line)


async def replace_result_surrogates(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Replace lone surrogates in results and errors (a middleware)."""
    try:
        result = await call_next(ctx)
    except MCPError as error:
        data = error.error
        raise MCPError(
            code=data.code, message=replace_surrogates(data.message), data=replace_surrogates(data.data)
        ) from error
    try:
        to_json(result)  # nearly every result can be encoded, and this test is cheap
    except (ValueError, RecursionError):
        return replace_surrogates(result)
    return result


def replace_surrogates(value: Any) -> Any:
    """Replace lone surrogates in JSON-able data; other values stay as they are."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {replace_surrogates(name): replace_surrogates(item) for name, item in value.items()}
    return [replace_surrogates(item) for item in value] if isinstance(value, list | tuple) else value
