"""The connection of one relay: reads and writes frames."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from outrider.relay import frames
from outrider.serve.host_session import HostLine


class HostConnection:
    """The connection of a host's relay, or of a control command.

    Attributes:
        finished: Set when the host sends no more requests, or has disconnected.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._frames = frames.FrameReader()
        self._pending: list[tuple[bytes, int, bytes]] = []
        self.finished = asyncio.Event()

    async def read_first(self) -> tuple[bytes, bytes]:
        """Return the kind and the payload of the first frame; both empty if the connection ends."""
        frame = await self._read_frame()
        return (frame[0], frame[2]) if frame else (b"", b"")

    async def iter_lines(self) -> AsyncIterator[HostLine]:
        """Yield the host's lines until it closes its input, or the connection ends."""
        line_kinds = {
            frames.LINE_FRAME: "new",
            frames.REPLAY_FRAME: "replayed",
            frames.RETRY_FRAME: "retried",
            frames.FAILED_FRAME: "failed",
        }
        try:
            while frame := await self._read_frame():
                kind, number, payload = frame
                if kind == frames.END_FRAME:
                    return
                if kind == frames.LAST_REQUEST_FRAME:
                    self.finished.set()
                elif kind in line_kinds:
                    yield HostLine(number, payload, line_kinds[kind])  # ty: ignore[invalid-argument-type]
        finally:
            self.finished.set()

    async def wait_until_lost(self) -> None:
        """Wait until the connection has ended."""
        while await self._read_frame():
            pass

    async def send_line(self, text: str, number: int) -> None:
        """Send a line to the host, as the answer to a numbered line.

        The number 0 means that it is not an answer.
        """
        self.send_frame(frames.OUTPUT_FRAME, text.encode("utf-8", "replace"), number)
        with suppress(OSError):  # disconnected, which the reader notices
            await self._writer.drain()

    async def acknowledge_line(self, number: int) -> None:
        """Inform the relay that a line needs no answer."""
        self.send_frame(frames.DONE_FRAME, number=number)

    async def keep_for_replay(self, number: int) -> None:
        """Ask the relay to replay a line on later connections."""
        self.send_frame(frames.KEEP_FRAME, number=number)

    def write_stderr(self, text: str) -> None:
        """Write text to the host's stderr."""
        self.send_frame(frames.STDERR_FRAME, text.encode("utf-8", "replace"))

    def send_frame(self, kind: bytes, payload: bytes = b"", number: int = 0) -> None:
        """Send a frame; dropped silently if the host has disconnected."""
        if not self._writer.is_closing():
            self._writer.write(frames.build_frame(kind, payload, number))

    async def close(self) -> None:
        """Send pending frames, and end the connection."""
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()

    async def _read_frame(self) -> tuple[bytes, int, bytes] | None:
        chunk_bytes = 65_536
        while not self._pending:
            try:
                chunk = await self._reader.read(chunk_bytes)
            except OSError:
                return None
            if not chunk:
                return None
            self._pending = self._frames.feed(chunk)
        return self._pending.pop(0)
