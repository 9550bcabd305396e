"""The daemon's door: who may come in, and that nobody else stands in front of it."""

import asyncio
import contextlib
import os
import secrets
from collections.abc import Awaitable, Callable
from pathlib import Path

from outrider.core.egress.listening import stop_listening
from outrider.relay import door
from outrider.relay.places import Place

Visit = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
LIMIT = 64 * 1024
SECONDS = 10.0  # in which who comes over loopback must show that it knows the token


class Door:
    """Where relays knock: a socket file, or a port of loopback where there can be no such file.

    Args:
        place: Where the files are; `prepare`d, and its lock is ours.
        visit: What is done with everyone who may come in.
    """

    def __init__(self, place: Place, visit: Visit) -> None:
        self._place = place
        self._visit = visit
        self._server: asyncio.Server | None = None
        self._token = ""
        self._file: tuple[int, int] | None = None

    async def open(self) -> None:
        """Begins to listen. Raises OSError."""
        # Of one that was killed: who holds the lock owns the place.
        _remove(self._place.token, self._place.socket)
        if not self._place.short or not await self._open_file():
            await self._open_port()

    @property
    def blocked(self) -> bool:
        """Whether nobody can find the way here any more, because the file is gone."""
        return self._file is not None and _identity(self._place.socket) != self._file

    @property
    def answered(self) -> bool:
        """Whether there is a door here that is not ours, after ours was closed."""
        return Path(self._place.socket).is_socket() or Path(self._place.token).is_file()

    async def close(self) -> None:
        """Lets nobody in any more; who is in stays."""
        if self._server is None:
            return
        server, self._server = self._server, None
        if not self.blocked:
            _remove(self._place.token if self._token else self._place.socket)
        await stop_listening(server)

    async def _open_file(self) -> bool:
        """Whether there can be a socket file here: not every file system has them."""
        before = os.umask(0o177)
        try:
            self._server = await asyncio.start_unix_server(self._by_file, self._place.socket, limit=LIMIT)
        except OSError:
            return False
        finally:
            os.umask(before)
        self._file = _identity(self._place.socket)
        return True

    async def _open_port(self) -> None:
        self._token = secrets.token_hex(16)
        self._server = await asyncio.start_server(self._on_loopback, "127.0.0.1", 0, limit=LIMIT)
        port = self._server.sockets[0].getsockname()[1]
        number = os.open(self._place.token, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(number, "w", encoding="ascii") as file:
            file.write(f"{port} {self._token}\n")

    async def _by_file(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if door.peer(writer.get_extra_info("socket")) not in (os.geteuid(), None):
            writer.close()
            return
        await self._visit(reader, writer)

    async def _on_loopback(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Proves that we know the token, and lets nobody in who does not."""
        try:
            async with asyncio.timeout(SECONDS):
                theirs, mine = await reader.readexactly(door.NONCE), os.urandom(door.NONCE)
                writer.write(mine + door.proved(self._token, b"daemon", theirs))
                proof = await reader.readexactly(door.NONCE)
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            writer.close()
            return
        if not secrets.compare_digest(proof, door.proved(self._token, b"relay", mine)):
            writer.close()
            return
        await self._visit(reader, writer)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _remove(*paths: str) -> None:
    for path in paths:
        with contextlib.suppress(OSError):
            Path(path).unlink()
