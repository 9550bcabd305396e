"""A connection to an endpoint of the operator's own, with or without TLS, for protocols that are not HTTP's."""

import ssl

import anyio
import httpcore2
from anyio.abc import ByteStream
from anyio.streams.tls import TLSStream

from outrider.core.egress.guard import EgressGuard
from outrider.core.errors import Unavailable

CONNECTION_ERRORS = (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream)


class DuplexStream:
    """Bytes both ways.

    Args:
        stream: The connection below.
    """

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream

    async def read(self, size: int) -> bytes:
        """At most `size` bytes; none at the end, or when the connection broke."""
        try:
            return await self._stream.receive(size)
        except CONNECTION_ERRORS:
            return b""

    async def write(self, data: bytes) -> None:
        """Sends everything. Raises Unavailable with code `connect`."""
        try:
            await self._stream.send(data)
        except CONNECTION_ERRORS:
            raise Unavailable("the connection broke", code="connect") from None

    async def aclose(self) -> None:
        """Closes it at once."""
        with anyio.CancelScope(shield=True):
            await anyio.aclose_forcefully(self._stream)


async def connect_endpoint(guard: EgressGuard, host: str, port: int, *, tls: bool, seconds: float) -> DuplexStream:
    """Dials an address that the operator named. Raises Refused or Unavailable."""
    try:
        with anyio.fail_after(seconds):
            stream = await guard.dial(host, port, trusted=True)
            return DuplexStream(await _wrap_tls(stream, host) if tls else stream)
    except TimeoutError:
        raise Unavailable(f"{host}:{port} did not answer in time", code="timeout") from None


async def _wrap_tls(stream: ByteStream, host: str) -> ByteStream:
    context = httpcore2.default_ssl_context()
    try:
        return await TLSStream.wrap(stream, ssl_context=context, hostname=host, standard_compatible=False)
    except (ssl.SSLError, *CONNECTION_ERRORS):
        await anyio.aclose_forcefully(stream)
        raise Unavailable(f"no secure connection to {host}", code="tls", hint="check its certificate") from None
    except BaseException:
        await anyio.aclose_forcefully(stream)
        raise
