"""From a host name to its addresses, by the system's resolver."""

import socket
from collections.abc import Awaitable, Callable, Sequence

import anyio

from outrider.core.errors import Unavailable

ResolveFunction = Callable[[str], Awaitable[Sequence[str]]]


class SystemResolver:
    """Asks the operating system; callable with a host name, answers with addresses as text.

    Raises Unavailable with code `dns`. A lookup whose caller gave up ends in its own time.
    """

    def __init__(self) -> None:
        self._threads: anyio.CapacityLimiter | None = None

    async def __call__(self, host: str) -> Sequence[str]:
        max_threads = 64  # lookups at a time; a stalled name server must not hold up everybody else's
        self._threads = self._threads or anyio.CapacityLimiter(max_threads)
        try:
            return await anyio.to_thread.run_sync(_lookup_host, host, abandon_on_cancel=True, limiter=self._threads)
        except (OSError, UnicodeError):
            raise Unavailable(f"the name {host} does not resolve", code="dns", hint="check the host name") from None


def _lookup_host(host: str) -> list[str]:
    # Bytes, because Python would encode text with its own, older rules for international names.
    answers = socket.getaddrinfo(host.encode("ascii"), None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(answer[4][0]) for answer in answers))
