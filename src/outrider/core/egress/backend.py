"""The guard as a network backend of httpcore2: names stay names above, vetted addresses are dialled below."""
# ruff: noqa: ASYNC109, ARG002 - the signatures are httpcore2's

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

from outrider.core.egress.guard import Guard
from outrider.core.errors import Unavailable

HEAD_BYTES = 65_536  # a reply's status line and headers, interim replies included
HEAD_READ = 16_384  # bytes read at a time while headers are awaited
BROKEN = (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError)


class Stale(Exception):
    """A kept-alive connection turned out to be closed before it answered anything: ask again on a new one."""


class Overflow(Exception):
    """The other side sent more bytes than allowed. `head` says whether those were headers."""

    def __init__(self, *, head: bool) -> None:
        super().__init__("more bytes than allowed")
        self.head = head


class GuardedStream(AsyncNetworkStream):
    """A connection that counts what it reads: headers after each request, then the body.

    Args:
        stream: The bytes below.
        host: For errors.
    """

    def __init__(self, stream: ByteStream, host: str) -> None:
        self._stream = stream
        self._host = host
        self._head = True
        self._left = HEAD_BYTES
        self._requests = 0

    def begin_body(self, limit: int) -> None:
        """The headers are complete; at most `limit` further bytes may come.

        Raises Stale for a reply of which nothing came after its request: the server sent it beforehand.
        """
        if self._fresh:
            raise Stale
        self._head, self._left = False, limit

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._left <= 0:
            raise Overflow(head=self._head)
        data = await self._receive(min(max_bytes, HEAD_READ) if self._head else max_bytes, timeout)
        if not data and self._fresh and self._requests > 1:
            raise Stale
        self._left -= len(data)
        return data

    @property
    def _fresh(self) -> bool:
        """Nothing of the reply has come yet."""
        return self._head and self._left == HEAD_BYTES

    async def _receive(self, size: int, timeout: float | None) -> bytes:
        try:
            with anyio.fail_after(timeout):
                return await self._stream.receive(size)
        except anyio.EndOfStream:
            return b""
        except TimeoutError:
            raise ReadTimeout from None
        except BROKEN:
            raise (Stale if self._fresh and self._requests > 1 else ReadError) from None

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        if not buffer:
            return
        if not self._head or not self._requests:
            self._head, self._left = True, HEAD_BYTES
            self._requests += 1
        try:
            with anyio.fail_after(timeout):
                await self._stream.send(buffer)
        except TimeoutError:
            raise WriteTimeout from None
        except BROKEN:
            raise WriteError from None

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> "GuardedStream":
        try:
            with anyio.fail_after(timeout):
                return GuardedStream(await self._secured(ssl_context, server_hostname), self._host)
        except TimeoutError:
            raise ConnectTimeout from None
        except (ssl.SSLError, anyio.EndOfStream, *BROKEN) as error:
            raise Unavailable(f"no secure connection to {self._host}: {_tls_reason(error)}", code="tls") from None

    async def _secured(self, context: ssl.SSLContext, name: str | None) -> TLSStream:
        try:
            return await TLSStream.wrap(self._stream, ssl_context=context, hostname=name, standard_compatible=False)
        except BaseException:
            await anyio.aclose_forcefully(self._stream)
            raise

    def get_extra_info(self, info: str) -> Any:
        if info == "ssl_object":
            return self._stream.extra(TLSAttribute.ssl_object, None)  # noqa: S610
        if info == "is_readable":
            return _readable(self._stream.extra(SocketAttribute.raw_socket, None))  # noqa: S610
        return None


class GuardedBackend(AsyncNetworkBackend):
    """Connections of one guard.

    Args:
        guard: Decides, resolves and dials.
        trusted: Whether the addresses come from the operator (`Guard.check`).
    """

    def __init__(self, guard: Guard, *, trusted: bool = False) -> None:
        self._guard = guard
        self._trusted = trusted

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> GuardedStream:
        try:
            with anyio.fail_after(timeout):
                stream = await self._guard.dial(host, port, trusted=self._trusted)
        except TimeoutError:
            raise ConnectTimeout from None
        return GuardedStream(stream, host)

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[SOCKET_OPTION] | None = None
    ) -> AsyncNetworkStream:
        raise NotImplementedError("no request leaves through a file")

    async def sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)


def _tls_reason(error: BaseException) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not valid ({error.verify_message})"
    reason = getattr(error, "reason", None)
    return str(reason).lower().replace("_", " ") if reason else "it broke off the handshake"


def _readable(raw: Any) -> bool:
    """Whether an idle connection has something to read, which means that it was closed or misbehaves."""
    if raw is None or raw.fileno() < 0:
        return True
    if not hasattr(select, "poll"):
        return bool(select.select([raw], [], [], 0)[0])
    poll = select.poll()
    poll.register(raw, select.POLLIN)
    return bool(poll.poll(0))
