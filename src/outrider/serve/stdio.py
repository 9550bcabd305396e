"""Serves one client over standard input and output."""

import os
from collections.abc import AsyncIterator
from typing import Any, BinaryIO

import anyio
from mcp.server import Server
from mcp_types import JSONRPCRequest

from outrider.serve.connections import Desk, Line
from outrider.serve.wire import Wire


class Pipes:
    """The client's pipes as a channel that is never lost, so that it keeps nothing for another one.

    Its files are never closed, since a reading thread may outlive the server. A line is written and flushed in one trip
    to a worker thread; two that are written at once do not mix (`io.BufferedWriter` locks).
    """

    def __init__(self, wire: Wire) -> None:
        self._incoming: BinaryIO = os.fdopen(wire.stdin, "rb", closefd=False)
        self._outgoing: BinaryIO = os.fdopen(wire.stdout, "wb", closefd=False)

    async def lines(self) -> AsyncIterator[Line]:
        """What the client writes, until it closes its end."""
        number = 0
        while data := await anyio.to_thread.run_sync(self._incoming.readline):
            number += 1
            if data.strip():
                yield Line(number, data)

    async def output(self, text: str, number: int) -> None:  # noqa: ARG002 - of the protocol `Channel`
        """Sends a line."""
        await anyio.to_thread.run_sync(self._send, text.encode("utf-8", "replace") + b"\n")

    async def done(self, number: int) -> None:
        """Nobody waits to hear so."""

    async def keep(self, number: int) -> None:
        """There is no later connection."""

    def _send(self, line: bytes) -> None:
        self._outgoing.write(line)
        self._outgoing.flush()


async def serve_stdio(server: Server[Any], wire: Wire) -> None:
    """Speaks MCP on the claimed descriptors until the client closes them."""
    await Desk(Pipes(wire), _never).serve(server)


async def _never(_: JSONRPCRequest) -> bool:
    return False
