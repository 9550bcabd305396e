"""Serves one client over standard input and output."""

import io
import os
from typing import Any

import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server

from outrider.serve.letters import readable
from outrider.serve.wire import Wire


class Incoming(anyio.AsyncFile[str]):
    """Reads lines that the SDK can read, too: what it cannot, it drops without an answer."""

    async def readline(self) -> str:
        return readable(await super().readline())


class Outgoing(anyio.AsyncFile[str]):
    """Writes and flushes in one trip to a worker thread; the SDK asks for the two one after the other."""

    async def write(self, b: str) -> int:
        return await anyio.to_thread.run_sync(self._send, b)

    async def flush(self) -> None:
        """Nothing is ever left to flush."""

    def _send(self, text: str) -> int:
        written = self.wrapped.write(text)
        self.wrapped.flush()
        return written


async def serve_stdio(server: Server[Any], wire: Wire) -> None:
    """Speaks MCP on the claimed descriptors until the client closes them."""
    incoming, outgoing = _pipes(wire)
    async with stdio_server(Incoming(incoming), Outgoing(outgoing)) as (read, write):
        await server.run(read, write, server.create_initialization_options())


def _pipes(wire: Wire) -> tuple[io.TextIOWrapper, io.TextIOWrapper]:
    """The descriptors as UTF-8 text; never closed, since a reading thread may outlive the server."""
    incoming = os.fdopen(wire.stdin, "rb", closefd=False)
    outgoing = os.fdopen(wire.stdout, "wb", closefd=False)
    return io.TextIOWrapper(incoming, encoding="utf-8", errors="replace"), io.TextIOWrapper(outgoing, encoding="utf-8")
