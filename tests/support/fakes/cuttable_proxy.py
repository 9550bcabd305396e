"""A TCP proxy to a local server whose connections can be cut and restored."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from outrider.core.egress.server_shutdown import stop_listening


@dataclass
class CuttableProxy:
    """The proxy; `url` is its address, like the server's with another port."""

    host: str
    port: int
    url: str = ""
    is_open: bool = True
    writers: set[asyncio.StreamWriter] = field(default_factory=set)

    async def cut_connections(self) -> None:
        """Break all connections, and accept no new ones until `restore`."""
        self.is_open = False
        for writer in list(self.writers):
            writer.transport.abort()

    def restore(self) -> None:
        """Accept connections again."""
        self.is_open = True

    async def relay_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Relay one connection."""
        if not self.is_open:
            writer.transport.abort()
            return
        far_reader, far_writer = await asyncio.open_connection(self.host, self.port)
        self.writers |= {writer, far_writer}
        try:
            await asyncio.gather(_copy_stream(reader, far_writer), _copy_stream(far_reader, writer))
        finally:
            for each in (writer, far_writer):
                self.writers.discard(each)
                each.close()
                with suppress(OSError):
                    await each.wait_closed()


async def _copy_stream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()


@asynccontextmanager
async def open_cuttable_proxy(server_url: str) -> AsyncGenerator[CuttableProxy]:
    """Open a proxy to a server."""
    parts = urlsplit(server_url)
    cut = CuttableProxy(parts.hostname or "", parts.port or 80)
    server = await asyncio.start_server(cut.relay_connection, "127.0.0.1", 0)
    cut.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    try:
        yield cut
    finally:
        await cut.cut_connections()
        await stop_listening(server)
