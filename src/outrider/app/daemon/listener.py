"""Listen for the user's relays on a socket file or loopback port."""

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
    """A socket file, or a loopback port if the file system has no sockets.

    Args:
        paths: Where the files are; the folder exists, and this process holds the lock.
        handler: Called for each accepted connection.
    """

    def __init__(self, paths: DaemonPaths, handler: ConnectionHandler) -> None:
        self._paths = paths
        self._handler = handler
        self._server: asyncio.Server | None = None
        self._token = ""
        self._socket_identity: tuple[int, int] | None = None

    async def open(self) -> None:
        """Start listening. Raises OSError."""
        # Files of a daemon that was killed; we hold the lock, so no other daemon uses them.
        _remove_files(self._paths.token_path, self._paths.socket_path)
        if self._paths.fits_socket_address and await self._listen_on_socket():
            return
        self._token = secrets.token_hex(16)
        self._server = await asyncio.start_server(self._handle_loopback, "127.0.0.1", 0, limit=STREAM_LIMIT_BYTES)
        port = self._server.sockets[0].getsockname()[1]
        number = os.open(self._paths.token_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(number, "w", encoding="ascii") as file:
            file.write(f"{port} {self._token}\n")

    @property
    def is_unreachable(self) -> bool:
        """Whether relays can no longer connect, because the socket file was removed or replaced."""
        return self._socket_identity is not None and _identify_file(self._paths.socket_path) != self._socket_identity

    @property
    def has_successor(self) -> bool:
        """Whether another daemon listens here, after this one was closed."""
        return Path(self._paths.socket_path).is_socket() or Path(self._paths.token_path).is_file()

    async def close(self) -> None:
        """Stop listening; open connections stay."""
        if self._server is None:
            return
        server, self._server = self._server, None
        if not self.is_unreachable:
            _remove_files(self._paths.token_path if self._token else self._paths.socket_path)
        await stop_listening(server)

    async def _listen_on_socket(self) -> bool:
        """Listen on a socket file; returns False if the file system has none."""

        async def handle_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if daemon_socket.get_peer_uid(writer.get_extra_info("socket")) not in (os.geteuid(), None):
                writer.close()
                return
            await self._handler(reader, writer)

        previous_umask = os.umask(0o177)
        try:
            self._server = await asyncio.start_unix_server(
                handle_connection, self._paths.socket_path, limit=STREAM_LIMIT_BYTES
            )
        except OSError:
            return False
        finally:
            os.umask(previous_umask)
        self._socket_identity = _identify_file(self._paths.socket_path)
        return True

    async def _handle_loopback(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Prove that we know the token, and accept only relays that know it too."""
        proof_timeout_s = 10.0
        try:
            async with asyncio.timeout(proof_timeout_s):
                relay_nonce = await reader.readexactly(daemon_socket.NONCE_BYTES)
                own_nonce = os.urandom(daemon_socket.NONCE_BYTES)
                writer.write(own_nonce + daemon_socket.compute_proof(self._token, b"daemon", relay_nonce))
                proof = await reader.readexactly(daemon_socket.NONCE_BYTES)
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            writer.close()
            return
        if not secrets.compare_digest(proof, daemon_socket.compute_proof(self._token, b"relay", own_nonce)):
            writer.close()
            return
        await self._handler(reader, writer)


def _identify_file(path: str) -> tuple[int, int] | None:
    try:
        stat = os.lstat(path)
    except OSError:
        return None
    return stat.st_dev, stat.st_ino


def _remove_files(*paths: str) -> None:
    for path in paths:
        with contextlib.suppress(OSError):
            Path(path).unlink()
