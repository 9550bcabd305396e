"""One connection at the door: frames in, frames out."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from outrider.relay import frames
from outrider.serve.connections import Line

SIZE = 65_536
HOW = {frames.LINE: "new", frames.REPLAY: "replayed", frames.RETRY: "retried", frames.FAILED: "failed"}


class Visitor:
    """A relay, or somebody who asks how things stand.

    Attributes:
        quiet: Set when it asks for nothing more here, or is gone.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._frames = frames.Reader()
        self._waiting: list[tuple[bytes, int, bytes]] = []
        self.quiet = asyncio.Event()

    async def first(self) -> tuple[bytes, bytes]:
        """What it says first: kind and payload; both empty if it says nothing."""
        found = await self._next()
        return (found[0], found[2]) if found else (b"", b"")

    async def lines(self) -> AsyncIterator[Line]:
        """The host's lines, until there are no more."""
        try:
            while found := await self._next():
                kind, number, payload = found
                if kind == frames.LAST:
                    self.quiet.set()
                elif kind in HOW:
                    yield Line(number, payload, HOW[kind])  # ty: ignore[invalid-argument-type]
        finally:
            self.quiet.set()

    async def output(self, text: str, number: int) -> None:
        """Sends a line for the host, which answers its line of that number if it is not 0."""
        self.send(frames.OUTPUT, text.encode("utf-8", "replace"), number)
        with suppress(OSError):  # it is gone: its reader notices
            await self._writer.drain()

    async def done(self, number: int) -> None:
        """Says that a line needs no answer."""
        self.send(frames.DONE, number=number)

    async def keep(self, number: int) -> None:
        """Asks for a line to be replayed on later connections."""
        self.send(frames.KEEP, number=number)

    def words(self, text: str) -> None:
        """Text for the host's stderr."""
        self.send(frames.WORDS, text.encode("utf-8", "replace"))

    def send(self, kind: bytes, payload: bytes = b"", number: int = 0) -> None:
        """A frame; lost without a word if nobody is there any more."""
        if not self._writer.is_closing():
            self._writer.write(frames.frame(kind, payload, number))

    async def close(self) -> None:
        """Sends what waits, and ends the connection."""
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()

    async def _next(self) -> tuple[bytes, int, bytes] | None:
        while not self._waiting:
            try:
                piece = await self._reader.read(SIZE)
            except OSError:
                return None
            if not piece:
                return None
            self._waiting = self._frames.feed(piece)
        return self._waiting.pop(0)
