"""A forward proxy that connects every name and address of the internet to one local server."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

from support.fakes import http_servers


@asynccontextmanager
async def serve_forward_proxy(site_url: str) -> AsyncGenerator[str]:
    """Serve a CONNECT proxy that connects all requests to `site_url`."""
    parts = urlsplit(site_url)

    async def tunnel(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        site_reader, site_writer = await asyncio.open_connection(parts.hostname, parts.port)
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await asyncio.gather(_copy(reader, site_writer), _copy(site_reader, writer))

    async with http_servers.serve_raw_tcp(tunnel) as url:
        yield url


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()
