"""CDP over two inherited pipes (`--remote-debugging-pipe`), one zero byte after each message.

Unlike a port, no other program can connect to it, and the browser exits by itself when the pipe closes,
even if this process was killed.
"""

import asyncio
import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress


class PipeTransport:
    """Reads from one descriptor and writes to another; `aclose` closes both.

    Args:
        reading: Descriptor of the browser's messages.
        writing: Descriptor for messages to the browser.
    """

    def __init__(self, reading: int, writing: int) -> None:
        self._reading = reading
        self._writing = writing
        self._parts: list[bytes] = []
        self._size = 0
        self._queue: deque[memoryview] = deque()
        self._is_open = False
        self._on_message: Callable[[bytes], None] = lambda _: None
        self._on_lost: Callable[[str], None] = lambda _: None
        for descriptor in (reading, writing):
            os.set_blocking(descriptor, False)
            _enlarge_pipe(descriptor)

    def start(self, received: Callable[[bytes], None], lost: Callable[[str], None]) -> None:
        """Start reading."""
        self._on_message, self._on_lost = received, lost
        self._is_open = True
        asyncio.get_running_loop().add_reader(self._reading, self._read_pipe)

    def send(self, message: bytes) -> None:
        """Write what the pipe takes now, and the rest later.

        The rest is written when the pipe is writable again.
        """
        if not self._is_open:
            return
        self._queue.append(memoryview(message + b"\0"))
        if len(self._queue) == 1:
            self._write_queue()

    async def aclose(self) -> None:
        """Close both pipes, which also ends the browser."""
        self._close_pipes()

    def _read_pipe(self) -> None:
        max_message_bytes = 512 << 20
        chunk_bytes = 1 << 20
        try:
            data = os.read(self._reading, chunk_bytes)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data or self._size > max_message_bytes:
            self._report_loss("it ended" if not data else "it sent an endless message")
            return
        *message_ends, rest = data.split(b"\0")
        for message_end in message_ends:
            message = b"".join((*self._parts, message_end))
            self._parts.clear()
            self._size = 0
            self._on_message(message)
        if rest:
            self._parts.append(rest)
            self._size += len(rest)

    def _write_queue(self) -> None:
        while self._queue:
            try:
                written_bytes = os.write(self._writing, self._queue[0])
            except BlockingIOError:
                asyncio.get_running_loop().add_writer(self._writing, self._write_queue)
                return
            except OSError:
                self._report_loss("its command pipe is closed")
                return
            if written_bytes < len(self._queue[0]):
                self._queue[0] = self._queue[0][written_bytes:]
            else:
                self._queue.popleft()
        asyncio.get_running_loop().remove_writer(self._writing)

    def _report_loss(self, reason: str) -> None:
        self._close_pipes()
        self._on_lost(reason)

    def _close_pipes(self) -> None:
        if not self._is_open:
            return
        self._is_open = False
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._reading)
        loop.remove_writer(self._writing)
        self._queue.clear()
        for descriptor in (self._reading, self._writing):
            with suppress(OSError):
                os.close(descriptor)


def _enlarge_pipe(descriptor: int) -> None:
    """Enlarge the kernel's pipe buffer on Linux; its default is 64 KiB."""
    capacity_bytes = 1 << 20
    import fcntl  # missing on Windows

    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with suppress(OSError):
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, capacity_bytes)
