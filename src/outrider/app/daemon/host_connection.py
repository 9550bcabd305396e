"""One connection at the door: frames in, frames out."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from outrider.relay import frames
from outrider.serve.host_session import HostLine


class HostConnection:
    """A relay, or somebody who asks how things stand.

    Attributes:
        finished: Set when it asks for nothing more here, or is gone.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._frames = frames.FrameReader()
        self._pending: list[tuple[bytes, int, bytes]] = []
        self.finished = asyncio.Event()

    async def read_first(self) -> tuple[bytes, bytes]:
        """What it says first: kind and payload; both empty if it says nothing."""
        found = await self._read_frame()
        return (found[0], found[2]) if found else (b"", b"")

    async def iter_lines(self) -> AsyncIterator[HostLine]:
        """The host's lines, until there are no more."""
        line_kinds = {
            frames.LINE_FRAME: "new",
            frames.REPLAY_FRAME: "replayed",
            frames.RETRY_FRAME: "retried",
            frames.FAILED_FRAME: "failed",
        }
        try:
            while found := await self._read_frame():
                kind, number, payload = found
                if kind == frames.LAST_REQUEST_FRAME:
                    self.finished.set()
                elif kind in line_kinds:
                    yield HostLine(number, payload, line_kinds[kind])  # ty: ignore[invalid-argument-type]
        finally:
            self.finished.set()

    async def send_line(self, text: str, number: int) -> None:
        """Sends a line for the host, which answers its line of that number if it is not 0."""
        self.send_frame(frames.OUTPUT_FRAME, text.encode("utf-8", "replace"), number)
        with suppress(OSError):  # it is gone: its reader notices
            await self._writer.drain()

    async def acknowledge_line(self, number: int) -> None:
        """Says that a line needs no answer."""
        self.send_frame(frames.DONE_FRAME, number=number)

    async def keep_for_replay(self, number: int) -> None:
        """Asks for a line to be replayed on later connections."""
        self.send_frame(frames.KEEP_FRAME, number=number)

    def write_stderr(self, text: str) -> None:
        """Text for the host's stderr."""
        self.send_frame(frames.STDERR_FRAME, text.encode("utf-8", "replace"))

    def send_frame(self, kind: bytes, payload: bytes = b"", number: int = 0) -> None:
        """A frame; lost without a word if nobody is there any more."""
        if not self._writer.is_closing():
            self._writer.write(frames.build_frame(kind, payload, number))

    async def close(self) -> None:
        """Sends what waits, and ends the connection."""
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()

    async def _read_frame(self) -> tuple[bytes, int, bytes] | None:
        chunk_bytes = 65_536
        while not self._pending:
            try:
                piece = await self._reader.read(chunk_bytes)
            except OSError:
                return None
            if not piece:
                return None
            self._pending = self._frames.feed(piece)
        return self._pending.pop(0)
