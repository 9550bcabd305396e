"""Resolve host names with the system's resolver."""

import socket
from collections.abc import Awaitable, Callable, Sequence

import anyio

from outrider.core.errors import Unavailable

ResolveFunction = Callable[[str], Awaitable[Sequence[str]]]


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
