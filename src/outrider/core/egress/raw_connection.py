"""Connect to a trusted endpoint for protocols other than HTTP.

TLS is optional.
"""

import ssl

import anyio
import httpcore2
from anyio.abc import ByteStream

from outrider.core.egress.backend import wrap_tls
from outrider.core.egress.guard import EgressGuard
from outrider.core.errors import Unavailable

CONNECTION_ERRORS = (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream)


class DuplexStream:
    """A two-way byte stream.

    Args:
        stream: The underlying connection.
    """

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream

    async def read(self, size: int) -> bytes:
        """Read at most `size` bytes; none at the end, or when the connection broke."""
        try:
            return await self._stream.receive(size)
        except CONNECTION_ERRORS:
            return b""

    async def write(self, data: bytes) -> None:
        """Send all data. Raises Unavailable with code `connect`."""
        try:
            await self._stream.send(data)
        except CONNECTION_ERRORS:
            raise Unavailable("the connection broke", code="connect") from None

    async def aclose(self) -> None:
        """Close the connection at once."""
        with anyio.CancelScope(shield=True):
            await anyio.aclose_forcefully(self._stream)


async def connect_endpoint(guard: EgressGuard, host: str, port: int, *, tls: bool, seconds: float) -> DuplexStream:
    """Connect to an address that the operator configured. Raises Refused or Unavailable."""
    try:
        with anyio.fail_after(seconds):
            stream: ByteStream = await guard.dial(host, port, trusted=True)
            if tls:
                stream = await wrap_tls(stream, httpcore2.default_ssl_context(), host)
            return DuplexStream(stream)
    except TimeoutError:
        raise Unavailable(f"{host}:{port} did not answer in time", code="timeout") from None
    except (ssl.SSLError, *CONNECTION_ERRORS):
        raise Unavailable(f"no secure connection to {host}", code="tls", hint="check its certificate") from None
