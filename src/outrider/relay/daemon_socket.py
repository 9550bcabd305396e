"""The way into the daemon: a socket file of the person's own, or a port of loopback with a token."""

import _socket as sockets  # the C half: the other loads enum, selectors and 1 MB more
import os

from outrider.relay.daemon_paths import DaemonPaths, UntrustedDaemon

RECEIVE_BYTES = 65_536
NONCE_BYTES = 32  # bytes


class DaemonUnreachable(Exception):
    """Nobody is at the door."""


def connect_daemon(place: DaemonPaths) -> "sockets.socket":
    """A connection to the daemon. Raises Gone where there is none, Untrusted where another answers."""
    try:
        place.check_run_dir()
    except FileNotFoundError:
        raise DaemonUnreachable from None
    if os.path.lexists(place.token_path):
        return _connect_loopback(place)
    return _connect_socket_file(place)


class ConnectionAttempt:
    """Closes the connection where the two ends do not come to know each other. Raises Gone where nobody is there."""

    def __init__(self, connection: "sockets.socket") -> None:
        self._connection = connection

    def __enter__(self) -> "sockets.socket":
        timeout_s = 60.0  # seconds in which the daemon must say its first word
        self._connection.settimeout(timeout_s)
        return self._connection

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is not None:
            self._connection.close()
        if isinstance(error, OSError):
            raise DaemonUnreachable from None


def _connect_socket_file(place: DaemonPaths) -> "sockets.socket":
    if not place.fits_socket_address:
        raise DaemonUnreachable
    try:
        place.check_file_owner(place.socket_path)
    except FileNotFoundError:
        raise DaemonUnreachable from None
    with ConnectionAttempt(sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)) as connection:
        connection.connect(place.socket_path)
        if get_peer_uid(connection) not in (os.geteuid(), None):
            raise UntrustedDaemon(f"{place.socket_path} is answered by somebody else")
    return connection


def get_peer_uid(connection: "sockets.socket") -> int | None:
    """The user at the other end; None where the system does not tell (then the folder's mode must do)."""
    option = getattr(sockets, "SO_PEERCRED", None)
    if option is None:
        return None
    return int.from_bytes(connection.getsockopt(sockets.SOL_SOCKET, option, 12)[4:8], "little")


def _connect_loopback(place: DaemonPaths) -> "sockets.socket":
    """Whoever has taken the port since must prove that he knows the token before he hears anything."""
    place.check_file_owner(place.token_path)
    with open(place.token_path, encoding="ascii") as file:
        port, token = file.read().split()
    with ConnectionAttempt(sockets.socket(sockets.AF_INET, sockets.SOCK_STREAM)) as connection:
        connection.connect(("127.0.0.1", int(port)))
        mine = os.urandom(NONCE_BYTES)
        connection.sendall(mine)
        answer = receive_exactly(connection, 2 * NONCE_BYTES)
        theirs, proof = answer[:NONCE_BYTES], answer[NONCE_BYTES:]
        if proof != compute_proof(token, b"daemon", mine):
            raise UntrustedDaemon(f"port {port} is answered by somebody else")
        connection.sendall(compute_proof(token, b"relay", theirs))
    return connection


def compute_proof(token: str, role: bytes, nonce: bytes) -> bytes:
    """That one knows the token: 32 bytes of keyed BLAKE2 (RFC 7693)."""
    import hashlib

    return hashlib.blake2s(role + nonce, key=token.encode("ascii")[:32]).digest()


def receive_exactly(connection: "sockets.socket", count: int) -> bytes:
    """Exactly so many bytes. Raises OSError when the connection ends before."""
    found = b""
    while len(found) < count:
        piece = connection.recv(count - len(found))
        if not piece:
            raise OSError("the connection ended")
        found += piece
    return found
