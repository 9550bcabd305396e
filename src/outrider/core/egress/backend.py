"""The guard as a network backend of httpcore2: names stay names above, vetted addresses are dialled below."""

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

MAX_HEAD_BYTES = 65_536  # a reply's status line and headers, interim replies included
STREAM_ERRORS = (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError)


class StaleConnection(Exception):
    """A kept-alive connection turned out to be closed before it answered anything: ask again on a new one."""


class ReadLimitExceeded(Exception):
    """The other side sent more bytes than allowed. `is_head` says whether those were headers."""

    def __init__(self, *, is_head: bool) -> None:
        super().__init__("more bytes than allowed")
        self.is_head = is_head


class GuardedStream(AsyncNetworkStream):
    """A connection that counts what it reads: headers after each request, then the body.

    Args:
        stream: The bytes below.
        host: For errors.
    """

    def __init__(self, stream: ByteStream, host: str) -> None:
        self._stream = stream
        self._host = host
        self._in_head = True
        self._bytes_left = MAX_HEAD_BYTES
        self._request_count = 0

    def begin_body(self, limit: int) -> None:
        """The headers are complete; at most `limit` further bytes may come.

        Raises Stale for a reply of which nothing came after its request: the server sent it beforehand.
        """
        if self._is_unanswered:
            raise StaleConnection
        self._in_head, self._bytes_left = False, limit

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        head_read_bytes = 16_384  # bytes read at a time while headers are awaited
        if self._bytes_left <= 0:
            raise ReadLimitExceeded(is_head=self._in_head)
        data = await self._receive_bytes(min(max_bytes, head_read_bytes) if self._in_head else max_bytes, timeout)
        if not data and self._is_unanswered and self._request_count > 1:
            raise StaleConnection
        self._bytes_left -= len(data)
        return data

    @property
    def _is_unanswered(self) -> bool:
        """Nothing of the reply has come yet."""
        return self._in_head and self._bytes_left == MAX_HEAD_BYTES

    async def _receive_bytes(self, size: int, timeout: float | None) -> bytes:  # noqa: ASYNC109
        try:
            with anyio.fail_after(timeout):
                return await self._stream.receive(size)
        except anyio.EndOfStream:
            return b""
        except TimeoutError:
            raise ReadTimeout from None
        except STREAM_ERRORS:
            raise (StaleConnection if self._is_unanswered and self._request_count > 1 else ReadError) from None

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
                return GuardedStream(await self._wrap_tls(ssl_context, server_hostname), self._host)
        except TimeoutError:
            raise ConnectTimeout from None
        except (ssl.SSLError, anyio.EndOfStream, *STREAM_ERRORS) as error:
            raise Unavailable(
                f"no secure connection to {self._host}: {_describe_tls_error(error)}", code="tls"
            ) from None

    async def _wrap_tls(self, context: ssl.SSLContext, name: str | None) -> TLSStream:
        try:
            return await TLSStream.wrap(self._stream, ssl_context=context, hostname=name, standard_compatible=False)
        except BaseException:
            await anyio.aclose_forcefully(self._stream)
            raise

    def get_extra_info(self, info: str) -> Any:
        if info == "ssl_object":
            return self._stream.extra(TLSAttribute.ssl_object, None)  # noqa: S610
        if info == "is_readable":
            return _is_readable(self._stream.extra(SocketAttribute.raw_socket, None))  # noqa: S610
        return None


class GuardedBackend(AsyncNetworkBackend):
    """Connections of one guard.

    Args:
        guard: Decides, resolves and dials.
        trusted: Whether the addresses come from the operator (`Guard.check`).
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
        raise NotImplementedError("no request leaves through a file")

    async def sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)


def _describe_tls_error(error: BaseException) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not valid ({error.verify_message})"
    reason = getattr(error, "reason", None)
    return str(reason).lower().replace("_", " ") if reason else "it broke off the handshake"


def _is_readable(raw: Any) -> bool:
    """Whether an idle connection has something to read, which means that it was closed or misbehaves."""
    if raw is None or raw.fileno() < 0:
        return True
    if not hasattr(select, "poll"):
        return bool(select.select([raw], [], [], 0)[0])
    poll = select.poll()
    poll.register(raw, select.POLLIN)
    return bool(poll.poll(0))
