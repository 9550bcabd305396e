"""The wires between the processes of a cluster: some are cut and mended, one spreads calls over the replicas."""

import asyncio
import itertools
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from outrider.core.egress.listening import stop_listening

PIECE = 65_536
DIALLED = 1.0  # seconds after which a load balancer tries the next replica
Dial = Callable[[], "asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]]"]


class Wire:
    """A listening port whose connections lead elsewhere.

    Args:
        dial: Opens the other side of a new connection.
        host: The address to listen on.

    Attributes:
        port: Where it listens.
    """

    def __init__(self, dial: Dial, host: str = "127.0.0.1") -> None:
        self._dial = dial
        self.host = host
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._flows = asyncio.Event()
        self._flows.set()
        self._cut = False
        self.port = 0

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._met, self.host, 0)
        self.port = self._server.sockets[0].getsockname()[1]

    def cut(self) -> None:
        """Breaks all connections, and every new one, until `mend`."""
        self._cut = True
        for task in self._tasks:
            task.cancel()

    def stall(self) -> None:
        """Nothing arrives any more on either side, and neither hears of it, until `mend`."""
        self._flows.clear()

    def mend(self) -> None:
        self._cut = False
        self._flows.set()

    async def close(self) -> None:
        self.mend()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._server is not None:
            await stop_listening(self._server)

    async def _met(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            if not self._cut:
                await self._joined(reader, writer)
        except (OSError, asyncio.CancelledError, asyncio.IncompleteReadError):
            pass
        finally:
            self._tasks.discard(task)
            await _closed(writer)

    async def _joined(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there_reader, there_writer = await self._dial()
        both = [
            asyncio.ensure_future(self._carry(reader, there_writer)),
            asyncio.ensure_future(self._carry(there_reader, writer)),
        ]
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            there_writer.transport.abort()
            for each in both:
                each.cancel()
            await asyncio.gather(*both, return_exceptions=True)
            await _closed(there_writer)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(PIECE):
            await self._flows.wait()
            writer.write(data)
            await writer.drain()


async def _closed(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()
    with suppress(OSError, asyncio.CancelledError):
        await writer.wait_closed()


@asynccontextmanager
async def to_socket(path: Path, host: str = "127.0.0.1") -> AsyncGenerator[Wire]:
    """A wire to a Unix socket."""
    async with _opened(lambda: asyncio.ensure_future(asyncio.open_unix_connection(str(path))), host) as wire:
        yield wire


@asynccontextmanager
async def to_port(port: int, host: str) -> AsyncGenerator[Wire]:
    """A wire from another address to a port of loopback."""
    async with _opened(lambda: asyncio.ensure_future(asyncio.open_connection("127.0.0.1", port)), host) as wire:
        yield wire


@asynccontextmanager
async def spread(targets: Sequence[tuple[str, int]]) -> AsyncGenerator[Wire]:
    """A load balancer of the simplest kind: each new connection goes to the next (host, port) that answers."""
    turns = itertools.count()

    async def dial() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        for _ in targets:
            with suppress(OSError):  # TimeoutError is one
                async with asyncio.timeout(DIALLED):
                    return await asyncio.open_connection(*targets[next(turns) % len(targets)])
        raise ConnectionRefusedError

    async with _opened(lambda: asyncio.ensure_future(dial())) as wire:
        yield wire


@asynccontextmanager
async def _opened(dial: Dial, host: str = "127.0.0.1") -> AsyncGenerator[Wire]:
    wire = Wire(dial, host)
    await wire.open()
    try:
        yield wire
    finally:
        await wire.close()
