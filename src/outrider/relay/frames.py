"""The frames that a relay and the daemon exchange.

    kind, 1 byte · number, 4 bytes · length of the payload, 4 bytes · payload        (big-endian)

Each line of the host has a number, which the daemon repeats when the line is answered. So the relay knows which lines
are pending without parsing JSON. A frame takes effect only when it is complete, so no line is answered twice.
"""

PROTOCOL_VERSION = b"2"

# From the relay.
HANDSHAKE_FRAME = b"H"  # the payload is described in handshake.py
LINE_FRAME = b"L"  # a line of the host
REPLAY_FRAME = b"R"  # a line that an earlier connection answered: process it again, without an answer
RETRY_FRAME = b"T"  # a line that was pending when an earlier connection was lost
FAILED_FRAME = b"F"  # a line that was pending when two processes died: do not try it again
LAST_REQUEST_FRAME = b"Z"  # only answers follow, no requests; the host ends with the connection
END_FRAME = b"Q"  # the host has closed its input: answer what is pending, then close the connection
CONTROL_FRAME = b"C"  # instead of a handshake: `status` or `stop`

# From the daemon.
WELCOME_FRAME = b"S"  # welcome; the payload is the connection's own session
OUTPUT_FRAME = b"O"  # a line for the host; its number is that of the line that it answers, or 0
DONE_FRAME = b"D"  # the line of that number needs no answer
KEEP_FRAME = b"K"  # the line of that number is to be replayed on every later connection
STDERR_FRAME = b"E"  # text for the host's stderr
EXIT_FRAME = b"X"  # end with that number, after the text
MOVE_FRAME = b"M"  # another daemon takes over: send new requests there, and receive pending answers here
LEAVE_FRAME = b"B"  # the daemon was asked to stop: as MOVE, but reconnect only for the next request
REJECT_FRAME = b"N"  # refusal and its reason: this process must serve the host itself


def build_frame(kind: bytes, payload: bytes = b"", number: int = 0) -> bytes:
    """Encode one frame."""
    return kind + number.to_bytes(4, "big") + len(payload).to_bytes(4, "big") + payload


class FrameReader:
    """Decodes frames from the pieces that arrive."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, piece: bytes) -> list[tuple[bytes, int, bytes]]:
        """Return the frames that are complete now, each as kind, number and payload."""
        buffer = self._buffer
        buffer += piece
        decoded, start = [], 0
        while len(buffer) - start >= 9:  # bytes of the header
            payload_start = start + 9
            end = payload_start + int.from_bytes(buffer[start + 5 : payload_start], "big")
            if len(buffer) < end:
                break
            kind = bytes(buffer[start : start + 1])
            number = int.from_bytes(buffer[start + 1 : start + 5], "big")
            decoded.append((kind, number, bytes(buffer[payload_start:end])))
            start = end
        del buffer[:start]
        return decoded
