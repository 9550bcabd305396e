"""Tunnel connections through an operator's forward proxy, which then resolves and dials."""

from base64 import b64encode
from urllib.parse import unquote, urlsplit

import anyio
from anyio.abc import SocketStream

from outrider.core.errors import Unavailable


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
