"""The proxies between the processes of a cluster: some can be cut and restored, one balances the load."""

import asyncio
import itertools
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from outrider.core.egress.server_shutdown import stop_listening

RELAY_CHUNK_BYTES = 65_536
DIAL_TIMEOUT_S = 1.0  # after which the load balancer tries the next replica
Dial = Callable[[], "asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]]"]


class FaultyProxy:
    """A listening port that forwards its connections.

    Args:
        dial: Opens the other side of a new connection.
        host: The address to listen on.

    Attributes:
        port: Its port.
    """

    def __init__(self, dial: Dial, host: str = "127.0.0.1") -> None:
        self._dial = dial
        self.host = host
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._is_cut = False
        self.port = 0

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._handle_connection, self.host, 0)
        self.port = self._server.sockets[0].getsockname()[1]

    def cut_connections(self) -> None:
        """Break all connections, and every new one, until restored."""
        self._is_cut = True
        for task in self._tasks:
            task.cancel()

    def stall_connections(self) -> None:
        """Hold back all data on both sides without a notice, until restored."""
        self._flowing.clear()

    def restore(self) -> None:
        self._is_cut = False
        self._flowing.set()

    async def close(self) -> None:
        self.restore()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._server is not None:
            await stop_listening(self._server)

    async def _handle_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            if not self._is_cut:
                await self._relay_both_ways(reader, writer)
        except (OSError, asyncio.CancelledError, asyncio.IncompleteReadError):
            pass
        finally:
            self._tasks.discard(task)
            await _close_writer(writer)

    async def _relay_both_ways(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there_reader, there_writer = await self._dial()
        both = [
            asyncio.ensure_future(self._relay_one_way(reader, there_writer)),
            asyncio.ensure_future(self._relay_one_way(there_reader, writer)),
        ]
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            there_writer.transport.abort()
            for each in both:
                each.cancel()
            await asyncio.gather(*both, return_exceptions=True)
            await _close_writer(there_writer)

    async def _relay_one_way(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(RELAY_CHUNK_BYTES):
            await self._flowing.wait()
            writer.write(data)
            await writer.drain()


async def _close_writer(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()
    with suppress(OSError, asyncio.CancelledError):
        await writer.wait_closed()


@asynccontextmanager
async def proxy_to_socket(path: Path, host: str = "127.0.0.1") -> AsyncGenerator[FaultyProxy]:
    """Open a proxy to a Unix socket."""
    async with _open_proxy(lambda: asyncio.ensure_future(asyncio.open_unix_connection(str(path))), host) as wire:
        yield wire


@asynccontextmanager
async def proxy_to_port(port: int, host: str) -> AsyncGenerator[FaultyProxy]:
    """Open a proxy from another address to a loopback port."""
    async with _open_proxy(lambda: asyncio.ensure_future(asyncio.open_connection("127.0.0.1", port)), host) as wire:
        yield wire


@asynccontextmanager
async def balance_connections(targets: Sequence[tuple[str, int]]) -> AsyncGenerator[FaultyProxy]:
    """Run a simple load balancer: each new connection goes to the next (host, port) that answers."""
    turns = itertools.count()

    async def dial_next_target() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        for _ in targets:
            with suppress(OSError):  # includes TimeoutError
                async with asyncio.timeout(DIAL_TIMEOUT_S):
                    return await asyncio.open_connection(*targets[next(turns) % len(targets)])
        raise ConnectionRefusedError

    async with _open_proxy(lambda: asyncio.ensure_future(dial_next_target())) as wire:
        yield wire


@asynccontextmanager
async def _open_proxy(dial: Dial, host: str = "127.0.0.1") -> AsyncGenerator[FaultyProxy]:
    wire = FaultyProxy(dial, host)
    await wire.start()
    try:
        yield wire
    finally:
        await wire.close()
