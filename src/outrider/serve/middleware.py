"""Adapt requests and results between the SDK and all clients; these are middlewares of a server."""

import json
from dataclasses import replace
from typing import Any

from mcp.server import ServerRequestContext
from mcp.server.context import CallNext, HandlerResult
from mcp.shared.exceptions import MCPError
from pydantic_core import to_json

from outrider.core.arguments import RAW_ARGUMENT, parse_arguments
from outrider.core.errors import InvalidInput
from outrider.serve.protocol_results import FIELDS_META_KEY
from outrider.serve.surrogates import replace_surrogates


async def parse_text_arguments(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Parse a tool call's arguments into an object; the SDK would refuse them without a reason."""
    arguments = (ctx.params or {}).get("arguments")
    if ctx.method == "tools/call" and arguments is not None and not isinstance(arguments, dict):
        try:
            parsed = parse_arguments(arguments)
        except InvalidInput:
            # Every tool refuses this name and explains what is wrong.
            parsed = {RAW_ARGUMENT: arguments if isinstance(arguments, str) else json.dumps(arguments)}
        ctx = replace(ctx, params={**(ctx.params or {}), "arguments": parsed})
    return await call_next(ctx)


async def adapt_result(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Put a resource's own fields where clients look for them, replace lone surrogates, and explain refused state."""
    try:
        result = await call_next(ctx)
    except MCPError as error:
        code, message, data = error.error.code, error.error.message, error.error.data
        if isinstance(data, dict) and data.get("reason") == "invalid_request_state":
            message = (  # only the log tells the exact reason
                "Invalid or expired requestState: it was changed, is too old, or belongs to another caller, "
                "conversation, tool or arguments. Call the tool again without requestState to be asked again"
            )
        raise MCPError(code=code, message=replace_surrogates(message), data=replace_surrogates(data)) from error
    if ctx.method == "tools/call" and isinstance(result, dict):
        for item in result.get("content", []):
            resource = item.get("resource", {}) if isinstance(item, dict) else {}
            # The SDK drops fields that the protocol does not define, so they are in `_meta` until here. They stay
            # there too, because typed clients would drop the copies.
            fields = (resource.get("_meta") or {}).get(FIELDS_META_KEY, {})
            resource.update({name: value for name, value in fields.items() if name not in resource})
    try:
        to_json(result)  # nearly every result can be encoded, and this test is cheap
    except (ValueError, RecursionError):
        return replace_surrogates(result)
    return result
