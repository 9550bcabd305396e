"""Write to programs that may end before they have read everything."""

import sys
from typing import Any

import anyio
from anyio.abc import Process

# asyncio raises the system's error if the reader ends while a write waits for space.
CLOSED_PIPE_ERRORS = (anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError)


def silence_broken_stdin(process: Process) -> None:
    """Keep Python before 3.11.4 from logging broken pipes that were handled."""
    writer: Any = getattr(process.stdin, "_stream", None)
    if writer and sys.version_info < (3, 11, 4):  # python/cpython#104340; Debian 12 has 3.11.2
        closed = writer._protocol._get_close_waiter(writer)  # noqa: SLF001 - there is no public way to it
        closed.add_done_callback(lambda done: done.cancelled() or done.exception())
