"""Accept arguments that a host sends as text instead of an object."""

import json
from dataclasses import replace
from typing import Any

from mcp.server import ServerRequestContext
from mcp.server.context import CallNext, HandlerResult

from outrider.core.arguments import RAW_ARGUMENT, parse_arguments
from outrider.core.errors import InvalidInput


async def parse_text_arguments(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Parse a tool call's arguments into an object (a middleware); the SDK would refuse them without a reason."""
    arguments = (ctx.params or {}).get("arguments")
    if ctx.method == "tools/call" and arguments is not None and not isinstance(arguments, dict):
        try:
            parsed = parse_arguments(arguments)
        except InvalidInput:
            # Every tool refuses this name and explains what is wrong.
            parsed = {RAW_ARGUMENT: arguments if isinstance(arguments, str) else json.dumps(arguments)}
        ctx = replace(ctx, params={**(ctx.params or {}), "arguments": parsed})
    return await call_next(ctx)
