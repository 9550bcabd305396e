"""Serve one client over standard input and output."""

import asyncio
import os
import select
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, BinaryIO, NamedTuple

import anyio
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server import Server
from mcp_types import JSONRPCRequest

from outrider.relay import stdio_pipes
from outrider.serve.host_session import HostLine, HostSession


class StdioDescriptors(NamedTuple):
    """Private descriptors of the client's pipes; child processes do not inherit them."""

    stdin: int
    stdout: int


def claim_stdio() -> StdioDescriptors:
    """Take over descriptors 0 and 1: from now on the process reads nothing there and prints to stderr."""
    return StdioDescriptors(*stdio_pipes.claim_stdio())


class StdioChannel:
    """The client's pipes as a channel, which cannot be reconnected and therefore stores nothing.

    Its files are never closed, because a reading thread may outlive the server. A line is written and flushed in one
    worker thread call; two concurrent lines do not mix (`io.BufferedWriter` locks).
    """

    def __init__(self, descriptors: StdioDescriptors) -> None:
        self._incoming: BinaryIO = os.fdopen(descriptors.stdin, "rb", closefd=False)
        self._outgoing: BinaryIO = os.fdopen(descriptors.stdout, "wb", closefd=False)

    async def iter_lines(self) -> AsyncIterator[HostLine]:
        """Yield the client's lines until it closes its end."""
        send, receive = anyio.create_memory_object_stream[bytes](0)
        # A daemon thread, because reading cannot be interrupted, and a server that Ctrl-C ends must not wait for it.
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._forward_lines, args=(send, loop), name="stdin", daemon=True).start()
        with send, receive:
            number = 0
            while data := await receive.receive():
                number += 1
                if data.strip():
                    yield HostLine(number, data)

    def _forward_lines(self, lines: MemoryObjectSendStream[bytes], loop: asyncio.AbstractEventLoop) -> None:
        """Read lines in a thread until the client closes its end.

        An empty line, forwarded last, marks this end.
        """
        data = b"\n"
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, RuntimeError):  # the server has ended
            while data:
                data = self._incoming.readline()
                asyncio.run_coroutine_threadsafe(lines.send(data), loop).result()

    async def wait_until_lost(self) -> None:
        """Wait until the client no longer reads."""
        poll_interval_s = 0.5
        if not hasattr(select, "poll"):  # Windows
            await anyio.sleep_forever()
        poll = select.poll()
        poll.register(self._outgoing.fileno(), 0)
        while not poll.poll(0):  # noqa: ASYNC110 - an event loop reports no errors of a pipe that it does not write
            await anyio.sleep(poll_interval_s)

    async def send_line(self, text: str, number: int) -> None:  # noqa: ARG002 - of the protocol `Channel`
        """Send a line."""
        line = text.encode("utf-8", "replace") + b"\n"

        def write_line() -> None:
            self._outgoing.write(line)
            self._outgoing.flush()

        await anyio.to_thread.run_sync(write_line)

    async def acknowledge_line(self, number: int) -> None:
        """Do nothing: the client expects no acknowledgement."""

    async def keep_for_replay(self, number: int) -> None:
        """Do nothing: there is never a later connection."""


async def serve_stdio(server: Server[Any], descriptors: StdioDescriptors) -> None:
    """Serve MCP on the claimed descriptors until the client closes them."""

    async def refuse_repeat(_: JSONRPCRequest) -> bool:
        return False

    await HostSession(StdioChannel(descriptors), refuse_repeat).serve(server)
