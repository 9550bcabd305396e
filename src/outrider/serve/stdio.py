"""Serves one client over standard input and output."""

import os
from collections.abc import AsyncIterator
from typing import Any, BinaryIO

import anyio
from mcp.server import Server
from mcp_types import JSONRPCRequest

from outrider.serve.host_session import HostLine, HostSession
from outrider.serve.wire import StdioDescriptors


class StdioChannel:
    """The client's pipes as a channel that is never lost, so that it keeps nothing for another one.

    Its files are never closed, since a reading thread may outlive the server. A line is written and flushed in one trip
    to a worker thread; two that are written at once do not mix (`io.BufferedWriter` locks).
    """

    def __init__(self, wire: StdioDescriptors) -> None:
        self._incoming: BinaryIO = os.fdopen(wire.stdin, "rb", closefd=False)
        self._outgoing: BinaryIO = os.fdopen(wire.stdout, "wb", closefd=False)

    async def iter_lines(self) -> AsyncIterator[HostLine]:
        """What the client writes, until it closes its end."""
        number = 0
        while data := await anyio.to_thread.run_sync(self._incoming.readline):
            number += 1
            if data.strip():
                yield HostLine(number, data)

    async def send_line(self, text: str, number: int) -> None:  # noqa: ARG002 - of the protocol `Channel`
        """Sends a line."""
        await anyio.to_thread.run_sync(self._write_line, text.encode("utf-8", "replace") + b"\n")

    async def acknowledge_line(self, number: int) -> None:
        """Nobody waits to hear so."""

    async def keep_for_replay(self, number: int) -> None:
        """There is no later connection."""

    def _write_line(self, line: bytes) -> None:
        self._outgoing.write(line)
        self._outgoing.flush()


async def serve_stdio(server: Server[Any], wire: StdioDescriptors) -> None:
    """Speaks MCP on the claimed descriptors until the client closes them."""
    await HostSession(StdioChannel(wire), _refuse_repeat).serve(server)


async def _refuse_repeat(_: JSONRPCRequest) -> bool:
    return False
