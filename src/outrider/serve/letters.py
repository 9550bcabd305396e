"""What comes and goes is text that can be written down: half of a pair of surrogates is none.

One in a result ended the whole connection, and a message with one was dropped, so that its client waited for ever. Such
come from file names that are no UTF-8, and from clients that cut a text in the middle of a sign.
"""

import re
from typing import Any

from mcp.server import ServerRequestContext
from mcp.server.context import CallNext, HandlerResult
from mcp.shared.exceptions import MCPError
from pydantic_core import to_json

HALF = re.compile(r"\\u[dD][89a-fA-F]")
# Every escape is passed over as a whole, so that none is taken for the end of another.
ESCAPE = re.compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)")


def readable(line: str) -> str:
    """A line of JSON with a sign in the place of each half of an escaped pair; JSON as RFC 8259 has it allows such."""
    if not HALF.search(line):
        return line
    return ESCAPE.sub(lambda found: "\\ufffd" if found[1] else found[0], line)


async def written(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Passes results and errors on with a sign in the place of what is no letter."""
    try:
        result = await call_next(ctx)
        return result if _is_written(result) else encodable(result)
    except MCPError as error:
        found = error.error
        raise MCPError(code=found.code, message=encodable(found.message), data=encodable(found.data)) from error


def _is_written(value: Any) -> bool:
    """Whether all of it is JSON already, as nearly everything is; to find that out is cheap."""
    try:
        to_json(value)
    except (ValueError, RecursionError):
        return False
    return True


def encodable(value: Any) -> Any:
    """JSON-able data in which every text can be encoded; anything else as it is."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {encodable(name): encodable(each) for name, each in value.items()}
    return [encodable(each) for each in value] if isinstance(value, list | tuple) else value
