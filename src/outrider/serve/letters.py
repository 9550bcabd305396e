"""What goes to a client is text that can be written down: one lone surrogate in a result ended the whole connection.

Such come from file names that are no UTF-8, and from JSON with half a pair in it.
"""

from typing import Any

from mcp.server import ServerRequestContext
from mcp.server.context import CallNext, HandlerResult
from mcp.shared.exceptions import MCPError


async def written(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Passes results and errors on with a sign in the place of what is no letter."""
    try:
        return encodable(await call_next(ctx))
    except MCPError as error:
        found = error.error
        raise MCPError(code=found.code, message=encodable(found.message), data=encodable(found.data)) from error


def encodable(value: Any) -> Any:
    """JSON-able data in which every text can be encoded; anything else as it is."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {encodable(name): encodable(each) for name, each in value.items()}
    return [encodable(each) for each in value] if isinstance(value, list | tuple) else value
