"""Serves one client over standard input and output."""

import io
import os
from typing import Any

import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server

from outrider.serve.wire import Wire


async def serve_stdio(server: Server[Any], wire: Wire) -> None:
    """Speaks MCP on the claimed descriptors until the client closes them."""
    incoming, outgoing = _pipes(wire)
    async with stdio_server(anyio.wrap_file(incoming), anyio.wrap_file(outgoing)) as (read, write):
        await server.run(read, write, server.create_initialization_options())


def _pipes(wire: Wire) -> tuple[io.TextIOWrapper, io.TextIOWrapper]:
    """The descriptors as UTF-8 text; never closed, since a reading thread may outlive the server."""
    incoming = os.fdopen(wire.stdin, "rb", closefd=False)
    outgoing = os.fdopen(wire.stdout, "wb", closefd=False)
    return io.TextIOWrapper(incoming, encoding="utf-8", errors="replace"), io.TextIOWrapper(outgoing, encoding="utf-8")
