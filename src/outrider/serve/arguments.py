"""Arguments that a host sends as text become the object that the protocol wants (contracts 1.4)."""

import json
from dataclasses import replace
from typing import Any

from mcp.server import ServerRequestContext
from mcp.server.context import CallNext, HandlerResult

from outrider.core.arguments import RAW_ARGUMENT, parse_arguments
from outrider.core.errors import InvalidInput


async def parse_text_arguments(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Passes a call on with an object as its arguments; the SDK would refuse it without a word about what is wrong."""
    given = (ctx.params or {}).get("arguments")
    if ctx.method == "tools/call" and given is not None and not isinstance(given, dict):
        ctx = replace(ctx, params={**(ctx.params or {}), "arguments": _parse_arguments(given)})
    return await call_next(ctx)


def _parse_arguments(given: object) -> dict[str, Any]:
    """The arguments; what is no object goes on as it came, under a name that every tool refuses with the reason."""
    try:
        return parse_arguments(given)
    except InvalidInput:
        return {RAW_ARGUMENT: given if isinstance(given, str) else json.dumps(given)}
