"""The network backend of httpcore2 that dials through the guard."""

import select
import ssl
from collections.abc import Iterable
from typing import Any

import anyio
from anyio.abc import ByteStream, SocketAttribute
from anyio.streams.tls import TLSAttribute, TLSStream
from httpcore2 import (
    SOCKET_OPTION,
    AsyncNetworkBackend,
    AsyncNetworkStream,
    ConnectTimeout,
    ReadError,
    ReadTimeout,
    WriteError,
    WriteTimeout,
)

from outrider.core.egress.guard import EgressGuard
from outrider.core.errors import Unavailable

MAX_HEAD_BYTES = 65_536  # a response's status line and headers, interim responses included
STREAM_ERRORS = (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError)


class StaleConnection(Exception):
    """A kept-alive connection was closed before it answered: the request can be repeated on a new one."""


class ReadLimitExceeded(Exception):
    """The other side sent more bytes than allowed; `is_head` is true if they were headers."""

    def __init__(self, *, is_head: bool) -> None:
        super().__init__("more bytes than allowed")
        self.is_head = is_head


class GuardedStream(AsyncNetworkStream):
    """A connection that limits the bytes of headers and bodies.

    Args:
        stream: The underlying byte stream.
        host: Named in errors.
    """

    def __init__(self, stream: ByteStream, host: str) -> None:
        self._stream = stream
        self._host = host
        self._in_head = True
        self._bytes_left = MAX_HEAD_BYTES
        self._request_count = 0

    def begin_body(self, limit: int) -> None:
        """Allow at most `limit` further bytes, because the headers are complete.

        Raises StaleConnection for a response that the server sent before the request.
        """
        if self._is_unanswered:
            raise StaleConnection
        self._in_head, self._bytes_left = False, limit

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        if self._bytes_left <= 0:
            raise ReadLimitExceeded(is_head=self._in_head)
        size = min(max_bytes, 16_384) if self._in_head else max_bytes
        is_reused = self._request_count > 1
        try:
            with anyio.fail_after(timeout):
                data = await self._stream.receive(size)
        except anyio.EndOfStream:
            data = b""
        except TimeoutError:
            raise ReadTimeout from None
        except STREAM_ERRORS:
            raise (StaleConnection if self._is_unanswered and is_reused else ReadError) from None
        if not data and self._is_unanswered and is_reused:
            raise StaleConnection
        self._bytes_left -= len(data)
        return data

    @property
    def _is_unanswered(self) -> bool:
        """Whether nothing of the response has arrived yet."""
        return self._in_head and self._bytes_left == MAX_HEAD_BYTES

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        if not buffer:
            return
        if not self._in_head or not self._request_count:
            self._in_head, self._bytes_left = True, MAX_HEAD_BYTES
            self._request_count += 1
        try:
            with anyio.fail_after(timeout):
                await self._stream.send(buffer)
        except TimeoutError:
            raise WriteTimeout from None
        except STREAM_ERRORS:
            raise WriteError from None

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> "GuardedStream":
        try:
            with anyio.fail_after(timeout):
                return GuardedStream(await wrap_tls(self._stream, ssl_context, server_hostname), self._host)
        except TimeoutError:
            raise ConnectTimeout from None
        except (ssl.SSLError, anyio.EndOfStream, *STREAM_ERRORS) as error:
            reason = str(getattr(error, "reason", None) or "it aborted the handshake").lower().replace("_", " ")
            if isinstance(error, ssl.SSLCertVerificationError):
                reason = f"its certificate is not valid ({error.verify_message})"
            raise Unavailable(f"no secure connection to {self._host}: {reason}", code="tls") from None

    def get_extra_info(self, info: str) -> Any:
        if info == "ssl_object":
            return self._stream.extra(TLSAttribute.ssl_object, None)  # noqa: S610
        if info != "is_readable":
            return None
        # An idle connection that has data was closed or misbehaves.
        raw_socket: Any = self._stream.extra(SocketAttribute.raw_socket, None)  # noqa: S610
        if raw_socket is None or raw_socket.fileno() < 0:
            return True
        if not hasattr(select, "poll"):
            return bool(select.select([raw_socket], [], [], 0)[0])
        poll = select.poll()
        poll.register(raw_socket, select.POLLIN)
        return bool(poll.poll(0))


class GuardedBackend(AsyncNetworkBackend):
    """Opens connections through the guard.

    Args:
        guard: Decides, resolves and dials.
        trusted: Whether the addresses come from the operator (`EgressGuard.check_url`).
    """

    def __init__(self, guard: EgressGuard, *, trusted: bool = False) -> None:
        self._guard = guard
        self._trusted = trusted

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109
        local_address: str | None = None,  # noqa: ARG002
        socket_options: Iterable[SOCKET_OPTION] | None = None,  # noqa: ARG002
    ) -> GuardedStream:
        try:
            with anyio.fail_after(timeout):
                stream = await self._guard.dial(host, port, trusted=self._trusted)
        except TimeoutError:
            raise ConnectTimeout from None
        return GuardedStream(stream, host)

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> AsyncNetworkStream:
        raise NotImplementedError("requests over Unix sockets are not supported")

    async def sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)


async def wrap_tls(stream: ByteStream, context: ssl.SSLContext, hostname: str | None) -> TLSStream:
    """Return the stream with TLS; if the handshake fails, the stream is closed."""
    try:
        return await TLSStream.wrap(stream, ssl_context=context, hostname=hostname, standard_compatible=False)
    except BaseException:
        await anyio.aclose_forcefully(stream)
        raise
