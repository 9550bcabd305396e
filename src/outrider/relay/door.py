"""The way into the daemon: a socket file of the person's own, or a port of loopback with a token."""

import _socket as sockets  # the C half: the other loads enum, selectors and 1 MB more
import os

from outrider.relay.places import Place, Untrusted

WAIT = 60.0  # seconds in which the daemon must say its first word
SIZE = 65_536
NONCE = 32  # bytes


class Gone(Exception):
    """Nobody is at the door."""


def knock(place: Place) -> "sockets.socket":
    """A connection to the daemon. Raises Gone where there is none, Untrusted where another answers."""
    try:
        place.check()
    except FileNotFoundError:
        raise Gone from None
    if os.path.lexists(place.token):
        return _on_loopback(place)
    return _by_file(place)


class Meeting:
    """Closes the connection where the two ends do not come to know each other. Raises Gone where nobody is there."""

    def __init__(self, connection: "sockets.socket") -> None:
        self._connection = connection

    def __enter__(self) -> "sockets.socket":
        self._connection.settimeout(WAIT)
        return self._connection

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is not None:
            self._connection.close()
        if isinstance(error, OSError):
            raise Gone from None


def _by_file(place: Place) -> "sockets.socket":
    if not place.short:
        raise Gone
    try:
        place.check_own(place.socket)
    except FileNotFoundError:
        raise Gone from None
    with Meeting(sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)) as connection:
        connection.connect(place.socket)
        if peer(connection) not in (os.geteuid(), None):
            raise Untrusted(f"{place.socket} is answered by somebody else")
    return connection


def peer(connection: "sockets.socket") -> int | None:
    """The user at the other end; None where the system does not tell (then the folder's mode must do)."""
    option = getattr(sockets, "SO_PEERCRED", None)
    if option is None:
        return None
    return int.from_bytes(connection.getsockopt(sockets.SOL_SOCKET, option, 12)[4:8], "little")


def _on_loopback(place: Place) -> "sockets.socket":
    """Whoever has taken the port since must prove that he knows the token before he hears anything."""
    place.check_own(place.token)
    with open(place.token, encoding="ascii") as file:
        port, token = file.read().split()
    with Meeting(sockets.socket(sockets.AF_INET, sockets.SOCK_STREAM)) as connection:
        connection.connect(("127.0.0.1", int(port)))
        mine = os.urandom(NONCE)
        connection.sendall(mine)
        answer = received(connection, 2 * NONCE)
        theirs, proof = answer[:NONCE], answer[NONCE:]
        if proof != proved(token, b"daemon", mine):
            raise Untrusted(f"port {port} is answered by somebody else")
        connection.sendall(proved(token, b"relay", theirs))
    return connection


def proved(token: str, who: bytes, nonce: bytes) -> bytes:
    """That one knows the token: 32 bytes of keyed BLAKE2 (RFC 7693)."""
    import hashlib

    return hashlib.blake2s(who + nonce, key=token.encode("ascii")[:32]).digest()


def received(connection: "sockets.socket", count: int) -> bytes:
    """Exactly so many bytes. Raises OSError when the connection ends before."""
    found = b""
    while len(found) < count:
        piece = connection.recv(count - len(found))
        if not piece:
            raise OSError("the connection ended")
        found += piece
    return found
