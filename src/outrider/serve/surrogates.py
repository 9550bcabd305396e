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

SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
# Every escape is passed over as a whole, so that none is taken for the end of another.
JSON_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
)


def replace_surrogate_escapes(line: str) -> str:
    """A line of JSON with a sign in the place of each half of an escaped pair; JSON as RFC 8259 has it allows such."""
    if not SURROGATE_ESCAPE.search(line):
        return line
    return JSON_ESCAPE.sub(lambda found: "\\ufffd" if found[1] else found[0], line)


async def replace_result_surrogates(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Passes results and errors on with a sign in the place of what is no letter."""
    try:
        result = await call_next(ctx)
        return result if _is_encodable(result) else replace_surrogates(result)
    except MCPError as error:
        found = error.error
        raise MCPError(
            code=found.code, message=replace_surrogates(found.message), data=replace_surrogates(found.data)
        ) from error


def _is_encodable(value: Any) -> bool:
    """Whether all of it is JSON already, as nearly everything is; to find that out is cheap."""
    try:
        to_json(value)
    except (ValueError, RecursionError):
        return False
    return True


def replace_surrogates(value: Any) -> Any:
    """JSON-able data in which every text can be encoded; anything else as it is."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {replace_surrogates(name): replace_surrogates(each) for name, each in value.items()}
    return [replace_surrogates(each) for each in value] if isinstance(value, list | tuple) else value
