"""An operator's forward proxy: it dials and resolves, the guard still judges names, addresses and ports."""

from base64 import b64encode
from urllib.parse import unquote, urlsplit

import anyio
from anyio.abc import SocketStream

from outrider.core.errors import Unavailable

HEAD_BYTES = 65_536


async def tunnel(proxy: str, host: str, port: int) -> SocketStream:
    """A connection to host and port through the proxy (CONNECT, RFC 9110 section 9.3.6).

    Raises Unavailable with code `connect`.
    """
    parts = urlsplit(proxy)
    try:
        stream = await anyio.connect_tcp(parts.hostname or "", parts.port or 80)
    except OSError:
        raise _failed("cannot be reached") from None
    try:
        await _ask(stream, proxy, f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
    except BaseException:
        await anyio.aclose_forcefully(stream)
        raise
    return stream


async def _ask(stream: SocketStream, proxy: str, authority: str) -> None:
    head = b""
    try:
        await stream.send(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n{_credentials(proxy)}\r\n".encode())
        while b"\r\n\r\n" not in head and len(head) < HEAD_BYTES:
            head += await stream.receive()
    except (anyio.EndOfStream, anyio.BrokenResourceError):
        raise _failed("broke the connection") from None
    status = head.split(b" ", 2)[1:2]
    # Nothing may follow the head: in HTTP and TLS the client speaks first.
    if not (status and status[0].startswith(b"2") and head.endswith(b"\r\n\r\n")):
        shown = status[0].decode("ascii", "replace")[:3] if status else "nothing useful"
        raise _failed(f"answered {shown} for {authority}")


def _credentials(proxy: str) -> str:
    parts = urlsplit(proxy)
    if not parts.username:
        return ""
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return f"Proxy-Authorization: Basic {b64encode(pair.encode()).decode()}\r\n"


def _failed(what: str) -> Unavailable:
    return Unavailable(f"the forward proxy {what}", code="connect", hint="an operator checks the setting egress.proxy")
