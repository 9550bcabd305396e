"""The daemon's door: who may come in, and that nobody else stands in front of it."""

import asyncio
import contextlib
import os
import secrets
from collections.abc import Awaitable, Callable
from pathlib import Path

from outrider.core.egress.server_shutdown import stop_listening
from outrider.relay import daemon_socket
from outrider.relay.daemon_paths import DaemonPaths

ConnectionHandler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
STREAM_LIMIT_BYTES = 64 * 1024


class DaemonListener:
    """Where relays knock: a socket file, or a port of loopback where there can be no such file.

    Args:
        place: Where the files are; `prepare`d, and its lock is ours.
        handler: What is done with everyone who may come in.
    """

    def __init__(self, place: DaemonPaths, handler: ConnectionHandler) -> None:
        self._place = place
        self._handler = handler
        self._server: asyncio.Server | None = None
        self._token = ""
        self._socket_identity: tuple[int, int] | None = None

    async def open(self) -> None:
        """Begins to listen. Raises OSError."""
        # Of one that was killed: who holds the lock owns the place.
        _remove_files(self._place.token_path, self._place.socket_path)
        if not self._place.fits_socket_address or not await self._listen_on_socket():
            await self._listen_on_port()

    @property
    def is_unreachable(self) -> bool:
        """Whether nobody can find the way here any more, because the file is gone."""
        return self._socket_identity is not None and _identify_file(self._place.socket_path) != self._socket_identity

    @property
    def has_successor(self) -> bool:
        """Whether there is a door here that is not ours, after ours was closed."""
        return Path(self._place.socket_path).is_socket() or Path(self._place.token_path).is_file()

    async def close(self) -> None:
        """Lets nobody in any more; who is in stays."""
        if self._server is None:
            return
        server, self._server = self._server, None
        if not self.is_unreachable:
            _remove_files(self._place.token_path if self._token else self._place.socket_path)
        await stop_listening(server)

    async def _listen_on_socket(self) -> bool:
        """Whether there can be a socket file here: not every file system has them."""
        before = os.umask(0o177)
        try:
            self._server = await asyncio.start_unix_server(
                self._handle_socket, self._place.socket_path, limit=STREAM_LIMIT_BYTES
            )
        except OSError:
            return False
        finally:
            os.umask(before)
        self._socket_identity = _identify_file(self._place.socket_path)
        return True

    async def _listen_on_port(self) -> None:
        self._token = secrets.token_hex(16)
        self._server = await asyncio.start_server(self._handle_loopback, "127.0.0.1", 0, limit=STREAM_LIMIT_BYTES)
        port = self._server.sockets[0].getsockname()[1]
        number = os.open(self._place.token_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(number, "w", encoding="ascii") as file:
            file.write(f"{port} {self._token}\n")

    async def _handle_socket(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if daemon_socket.get_peer_uid(writer.get_extra_info("socket")) not in (os.geteuid(), None):
            writer.close()
            return
        await self._handler(reader, writer)

    async def _handle_loopback(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Proves that we know the token, and lets nobody in who does not."""
        proof_timeout_s = 10.0  # in which who comes over loopback must show that it knows the token
        try:
            async with asyncio.timeout(proof_timeout_s):
                theirs, mine = (
                    await reader.readexactly(daemon_socket.NONCE_BYTES),
                    os.urandom(daemon_socket.NONCE_BYTES),
                )
                writer.write(mine + daemon_socket.compute_proof(self._token, b"daemon", theirs))
                proof = await reader.readexactly(daemon_socket.NONCE_BYTES)
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            writer.close()
            return
        if not secrets.compare_digest(proof, daemon_socket.compute_proof(self._token, b"relay", mine)):
            writer.close()
            return
        await self._handler(reader, writer)


def _identify_file(path: str) -> tuple[int, int] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _remove_files(*paths: str) -> None:
    for path in paths:
        with contextlib.suppress(OSError):
            Path(path).unlink()
