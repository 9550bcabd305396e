"""What a relay and the daemon say to each other: frames of a kind, a number and a payload.

    kind, 1 byte · number, 4 bytes · length of the payload, 4 bytes · payload        (big-endian)

A line of the host has a number, which the daemon names again when the line is answered. So the relay knows what is
under way without reading JSON, and a frame is whole or it was never sent: no line is answered twice.
"""

PROTOCOL_VERSION = b"1"  # of what is written here

# From the relay.
HANDSHAKE_FRAME = b"H"  # who comes: see `hello`
LINE_FRAME = b"L"  # a line of the host
REPLAY_FRAME = b"R"  # a line that an earlier connection answered: do it again, answer nobody
RETRY_FRAME = b"T"  # a line that was under way when an earlier connection was lost
FAILED_FRAME = b"F"  # a line that was under way when two processes died: not a third time
LAST_REQUEST_FRAME = b"Z"  # no request comes after this, only answers; the end of the connection is the end of the host
CONTROL_FRAME = b"C"  # instead of HELLO: `status` or `stop`

# From the daemon.
WELCOME_FRAME = b"S"  # welcome; the payload is the connection's own session
OUTPUT_FRAME = b"O"  # a line for the host; its number is that of the line that it answers, or 0
DONE_FRAME = b"D"  # the line of that number needs no answer
KEEP_FRAME = b"K"  # the line of that number is to be replayed on every later connection
STDERR_FRAME = b"E"  # text for the host's stderr
EXIT_FRAME = b"X"  # end with that number, after the text
MOVE_FRAME = b"M"  # another daemon takes over: go there with what is new, and hear here what is under way
LEAVE_FRAME = b"B"  # the daemon was told to stop: as MOVE, but only once there is something to say
REJECT_FRAME = b"N"  # not here, and why: serve by yourself


def build_frame(kind: bytes, payload: bytes = b"", number: int = 0) -> bytes:
    """One frame."""
    return kind + number.to_bytes(4, "big") + len(payload).to_bytes(4, "big") + payload


class FrameReader:
    """Puts the pieces that arrive together again."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, piece: bytes) -> list[tuple[bytes, int, bytes]]:
        """The frames that are whole now, each with kind, number and payload."""
        header_bytes = 9
        held = self._buffer
        held += piece
        found, at = [], 0
        while len(held) - at >= header_bytes:
            end = at + header_bytes + int.from_bytes(held[at + 5 : at + header_bytes], "big")
            if len(held) < end:
                break
            found.append(
                (
                    bytes(held[at : at + 1]),
                    int.from_bytes(held[at + 1 : at + 5], "big"),
                    bytes(held[at + header_bytes : end]),
                )
            )
            at = end
        del held[:at]
        return found
