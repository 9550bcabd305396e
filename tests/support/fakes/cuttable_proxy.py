"""A way to a server of ours that can be cut and mended: bytes go through untouched."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from outrider.core.egress.listening import stop_listening


@dataclass
class Cut:
    """The way. `place` is its address, as the server's with another port."""

    host: str
    port: int
    place: str = ""
    open: bool = True
    writers: set[asyncio.StreamWriter] = field(default_factory=set)

    async def cut(self) -> None:
        """Breaks all connections, and takes no new ones until `mend`."""
        self.open = False
        for writer in list(self.writers):
            writer.transport.abort()

    def mend(self) -> None:
        """Lets through again."""
        self.open = True

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        if not self.open:
            writer.transport.abort()
            return
        far_reader, far_writer = await asyncio.open_connection(self.host, self.port)
        self.writers |= {writer, far_writer}
        try:
            await asyncio.gather(_pour(reader, far_writer), _pour(far_reader, writer))
        finally:
            for each in (writer, far_writer):
                self.writers.discard(each)
                each.close()
                with suppress(OSError):
                    await each.wait_closed()


async def _pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()


@asynccontextmanager
async def cut_through(place: str) -> AsyncGenerator[Cut]:
    """A way to a server, open at first."""
    parts = urlsplit(place)
    cut = Cut(parts.hostname or "", parts.port or 80)
    server = await asyncio.start_server(cut.carry, "127.0.0.1", 0)
    cut.place = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    try:
        yield cut
    finally:
        await cut.cut()
        await stop_listening(server)
