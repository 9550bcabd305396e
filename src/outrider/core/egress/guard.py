"""Decide where requests may go, and dial only checked addresses."""

import os
import socket
from base64 import b64encode
from collections.abc import Awaitable, Callable, Sequence
from urllib.parse import unquote, urlsplit

import anyio
from anyio.abc import SocketStream

from outrider.core.egress.addresses import IpAddress, parse_address
from outrider.core.egress.policy import EgressPolicy, EgressSettings
from outrider.core.egress.target import QueryParams, RequestTarget, parse_target
from outrider.core.errors import Refused, Unavailable

ResolveFunction = Callable[[str], Awaitable[Sequence[str]]]


class EgressGuard:
    """Applies the egress policy, and opens all connections.

    A name is resolved once for each connection. Addresses that the policy refuses are left out and
    only the others are dialled; if there are none, the name is refused.

    Args:
        policy: What may be reached.
        resolve: Resolves a host name to addresses as text; the default asks the operating system.
    """

    def __init__(self, policy: EgressSettings | None = None, resolve: ResolveFunction | None = None) -> None:
        self.policy = EgressPolicy(policy or EgressSettings())
        self._resolve = resolve or SystemResolver()

    def check_url(
        self, url: str, *, base: str | None = None, params: QueryParams = None, trusted: bool = False
    ) -> RequestTarget:
        """Parse an address, and check it before its name is resolved.

        Args:
            url: The address as written.
            base: The address that a relative one starts from.
            params: Added to the query.
            trusted: Whether the operator configured the address: then private ones and all ports are allowed.

        Raises:
            InvalidInput: code `bad_url`.
            Refused: code `egress`.
        """
        target = parse_target(url, base=base, params=params)
        self.check_host(target.host, target.port, trusted=trusted)
        return target

    def check_host(self, host: str, port: int, *, trusted: bool = False) -> IpAddress | None:
        """Check a canonical host (`RequestTarget.host`) as `check_url` does; return the address if it is one."""
        try:
            address = parse_address(host) if ":" in host or host[-1:].isdigit() else None
        except ValueError:
            address = None
        if address is None:
            self.policy.check_name(host, port, trusted=trusted)
        else:
            self.policy.check_address(host, port, address, trusted=trusted)
        return address

    async def resolve_addresses(self, host: str, port: int, *, trusted: bool = False) -> list[IpAddress]:
        """Return the addresses of a canonical host that may be dialled, at least one.

        Raises:
            Refused: code `egress`; none of its addresses is allowed.
            Unavailable: code `dns`; it has no address.
        """
        literal = self.check_host(host, port, trusted=trusted)
        if literal is not None:
            return [literal]
        resolved = [parse_address(text) for text in await self._resolve(host)]
        if not resolved:
            raise Unavailable(f"the name {host} has no address", code="dns", hint="check the host name")
        permitted: list[IpAddress] = []
        refusals: list[Refused] = []
        for address in dict.fromkeys(resolved):
            try:
                self.policy.check_address(host, port, address, trusted=trusted)
            except Refused as error:
                refusals.append(error)
            else:
                permitted.append(address)
        if not permitted:
            raise refusals[0]
        return permitted

    async def dial(self, host: str, port: int, *, trusted: bool = False) -> SocketStream:
        """Open a TCP connection to a canonical host.

        It uses an allowed address or the operator's proxy.

        Raises:
            Refused: code `egress`.
            Unavailable: code `dns` or `connect`.
        """
        max_addresses = 8
        proxy = self.policy.settings.proxy
        if proxy and not trusted:
            self.check_host(host, port)
            return await open_tunnel(proxy.get_secret_value(), host, port)
        addresses = await self.resolve_addresses(host, port, trusted=trusted)
        return await _connect_first(host, addresses[:max_addresses], port)


async def _connect_first(host: str, addresses: Sequence[IpAddress], port: int) -> SocketStream:
    """Return the first connection that succeeds; a slow address does not delay the next (RFC 8305)."""
    attempt_delay_s = 0.25  # RFC 8305 section 5
    winner: list[SocketStream] = []
    reasons: list[str] = []

    async def try_address(address: IpAddress, tried: anyio.Event) -> None:
        try:
            stream = await anyio.connect_tcp(str(address), port)
        except OSError as error:
            errno = getattr(error.__cause__ or error, "errno", None) or 0
            reasons.append(os.strerror(errno).lower() if errno > 0 else "it cannot be reached")
        else:
            if winner:
                await stream.aclose()
            winner.append(stream)
            race.cancel_scope.cancel()
        finally:
            tried.set()

    try:
        async with anyio.create_task_group() as race:
            for address in addresses:
                tried = anyio.Event()
                race.start_soon(try_address, address, tried)
                with anyio.move_on_after(attempt_delay_s):
                    await tried.wait()
    except BaseException:
        await anyio.aclose_forcefully(winner[0]) if winner else None
        raise
    if winner:
        return winner[0]
    message = f"no connection to {host}:{port}: {reasons[0]}"
    raise Unavailable(message, code="connect", hint="check the host and the port, or try later")


class SystemResolver:
    """Resolves a host name to addresses as text, by asking the operating system.

    Raises Unavailable with code `dns`. A lookup whose caller was cancelled finishes in its thread.
    """

    def __init__(self) -> None:
        self._threads: anyio.CapacityLimiter | None = None

    async def __call__(self, host: str) -> Sequence[str]:
        self._threads = self._threads or anyio.CapacityLimiter(64)  # many, because a stalled name server blocks some

        def lookup_host() -> list[str]:
            # Bytes, because Python would encode text with its own, older rules for international names.
            answers = socket.getaddrinfo(host.encode("ascii"), None, type=socket.SOCK_STREAM)
            return list(dict.fromkeys(str(answer[4][0]) for answer in answers))

        try:
            return await anyio.to_thread.run_sync(lookup_host, abandon_on_cancel=True, limiter=self._threads)
        except (OSError, UnicodeError):
            raise Unavailable(f"the name {host} does not resolve", code="dns", hint="check the host name") from None


async def open_tunnel(proxy: str, host: str, port: int) -> SocketStream:
    """Open a connection to host and port through the proxy (CONNECT, RFC 9110 section 9.3.6).

    Raises Unavailable with code `connect`.
    """
    parts = urlsplit(proxy)
    try:
        stream = await anyio.connect_tcp(parts.hostname or "", parts.port or 80)
    except OSError:
        raise _build_proxy_error("cannot be reached") from None
    try:
        await _send_connect(stream, proxy, f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
    except BaseException:
        await anyio.aclose_forcefully(stream)
        raise
    return stream


async def _send_connect(stream: SocketStream, proxy: str, authority: str) -> None:
    max_head_bytes = 65_536
    parts = urlsplit(proxy)
    request = f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n"
    if parts.username:
        credentials = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        request += f"Proxy-Authorization: Basic {b64encode(credentials.encode()).decode()}\r\n"
    head = b""
    try:
        await stream.send(f"{request}\r\n".encode())
        while b"\r\n\r\n" not in head and len(head) < max_head_bytes:
            head += await stream.receive()
    except (anyio.EndOfStream, anyio.BrokenResourceError):
        raise _build_proxy_error("broke the connection") from None
    status = head.split(b" ", 2)[1:2]
    # Nothing may follow the head: in HTTP and TLS the client speaks first.
    if not (status and status[0].startswith(b"2") and head.endswith(b"\r\n\r\n")):
        answer = status[0].decode("ascii", "replace")[:3] if status else "without a status"
        raise _build_proxy_error(f"answered {answer} for {authority}")


def _build_proxy_error(reason: str) -> Unavailable:
    return Unavailable(
        f"the forward proxy {reason}", code="connect", hint="an operator must check the setting egress.proxy"
    )
