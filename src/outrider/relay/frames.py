"""What a relay and the daemon say to each other: frames of a kind, a number and a payload.

    kind, 1 byte · number, 4 bytes · length of the payload, 4 bytes · payload        (big-endian)

A line of the host has a number, which the daemon names again when the line is answered. So the relay knows what is
under way without reading JSON, and a frame is whole or it was never sent: no line is answered twice.
"""

VERSION = b"1"  # of what is written here
HEAD = 9

# From the relay.
HELLO = b"H"  # who comes: see `hello`
LINE = b"L"  # a line of the host
REPLAY = b"R"  # a line that an earlier connection answered: do it again, answer nobody
RETRY = b"T"  # a line that was under way when an earlier connection was lost
FAILED = b"F"  # a line that was under way when two processes died: not a third time
LAST = b"Z"  # no request comes after this, only answers; the end of the connection is the end of the host
CONTROL = b"C"  # instead of HELLO: `status` or `stop`

# From the daemon.
SESSION = b"S"  # welcome; the payload is the connection's own session
OUTPUT = b"O"  # a line for the host; its number is that of the line that it answers, or 0
DONE = b"D"  # the line of that number needs no answer
KEEP = b"K"  # the line of that number is to be replayed on every later connection
WORDS = b"E"  # text for the host's stderr
EXIT = b"X"  # end with that number, after the text
MOVE = b"M"  # another daemon takes over: go there with what is new, and hear here what is under way
LEAVE = b"B"  # the daemon was told to stop: as MOVE, but only once there is something to say
ALONE = b"N"  # not here, and why: serve by yourself


def frame(kind: bytes, payload: bytes = b"", number: int = 0) -> bytes:
    """One frame."""
    return kind + number.to_bytes(4, "big") + len(payload).to_bytes(4, "big") + payload


class Reader:
    """Puts the pieces that arrive together again."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, piece: bytes) -> list[tuple[bytes, int, bytes]]:
        """The frames that are whole now, each with kind, number and payload."""
        held = self._bytes
        held += piece
        found, at = [], 0
        while len(held) - at >= HEAD:
            end = at + HEAD + int.from_bytes(held[at + 5 : at + HEAD], "big")
            if len(held) < end:
                break
            found.append(
                (bytes(held[at : at + 1]), int.from_bytes(held[at + 1 : at + 5], "big"), bytes(held[at + HEAD : end]))
            )
            at = end
        del held[:at]
        return found
