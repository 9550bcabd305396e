"""Connect to the daemon by Unix socket, or loopback and token."""

import _socket as sockets  # the C half: the other loads enum, selectors and 1 MB more
import os

from outrider.relay.daemon_paths import DaemonPaths, UntrustedDaemon

RECEIVE_BYTES = 65_536
NONCE_BYTES = 32


class DaemonUnreachable(Exception):
    """No daemon is listening."""


def connect_daemon(paths: DaemonPaths) -> "sockets.socket":
    """Connect to the daemon. Raises DaemonUnreachable, or UntrustedDaemon if another program answers."""
    try:
        paths.check_run_dir()
    except FileNotFoundError:
        raise DaemonUnreachable from None
    if os.path.lexists(paths.token_path):
        return _connect_loopback(paths)
    if not paths.fits_socket_address:
        raise DaemonUnreachable
    try:
        paths.check_file_owner(paths.socket_path)
    except FileNotFoundError:
        raise DaemonUnreachable from None
    with ConnectionAttempt(sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)) as connection:
        connection.connect(paths.socket_path)
        if get_peer_uid(connection) not in (os.geteuid(), None):
            raise UntrustedDaemon(f"another user's program answers at {paths.socket_path}")
    return connection


class ConnectionAttempt:
    """Closes the connection if an error ends the body; an OSError becomes DaemonUnreachable."""

    def __init__(self, connection: "sockets.socket") -> None:
        self._connection = connection

    def __enter__(self) -> "sockets.socket":
        self._connection.settimeout(60.0)  # until the daemon's first message
        return self._connection

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is not None:
            self._connection.close()
        if isinstance(error, OSError):
            raise DaemonUnreachable from None


def get_peer_uid(connection: "sockets.socket") -> int | None:
    """Return the user at the other end, or None if unknown.

    Then the folder's mode protects the socket.
    """
    option = getattr(sockets, "SO_PEERCRED", None)
    if option is None:
        return None
    return int.from_bytes(connection.getsockopt(sockets.SOL_SOCKET, option, 12)[4:8], "little")


def _connect_loopback(paths: DaemonPaths) -> "sockets.socket":
    """Connect to the port once it proves to know the token.

    Any program may have taken the port since.
    """
    paths.check_file_owner(paths.token_path)
    with open(paths.token_path, encoding="ascii") as file:
        port, token = file.read().split()
    with ConnectionAttempt(sockets.socket(sockets.AF_INET, sockets.SOCK_STREAM)) as connection:
        connection.connect(("127.0.0.1", int(port)))
        our_nonce = os.urandom(NONCE_BYTES)
        connection.sendall(our_nonce)
        answer = receive_exactly(connection, 2 * NONCE_BYTES)
        daemon_nonce, proof = answer[:NONCE_BYTES], answer[NONCE_BYTES:]
        if proof != compute_proof(token, b"daemon", our_nonce):
            raise UntrustedDaemon(f"another program answers at port {port}")
        connection.sendall(compute_proof(token, b"relay", daemon_nonce))
    return connection


def compute_proof(token: str, role: bytes, nonce: bytes) -> bytes:
    """Return 32 bytes of keyed BLAKE2 (RFC 7693) that prove knowledge of the token."""
    import hashlib

    return hashlib.blake2s(role + nonce, key=token.encode("ascii")[:32]).digest()


def receive_exactly(connection: "sockets.socket", count: int) -> bytes:
    """Receive exactly this many bytes. Raises OSError if the connection ends before."""
    received = b""
    while len(received) < count:
        piece = connection.recv(count - len(received))
        if not piece:
            raise OSError("the connection ended")
        received += piece
    return received
