"""RTF as Exchange packs it (MS-OXRTFCP): copies of what stood before, out of a window of 4,096 bytes."""

import struct

COMPRESSED, UNCOMPRESSED = b"LZFu", b"MELA"
# What the window begins with (section 2.1.3.1.1).
INITIAL_DICTIONARY = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor MS Sans Serif"
    rb"SymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0"
    b"\r\n"
    rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)


def decompress_rtf(body: bytes) -> bytes:
    """The RTF, as far as the packed form is whole; empty if it is none."""
    max_bytes = 20_000_000  # bytes that become of it
    if len(body) < 16:
        return b""
    size, mark = struct.unpack_from("<L4s", body, 4)
    if mark == UNCOMPRESSED:
        return body[16 : 16 + size]
    return _decompress_body(body[16:], min(size, max_bytes)) if mark == COMPRESSED else b""


def _decompress_body(body: bytes, size: int) -> bytes:
    window_bytes = 4_096
    made, at = bytearray(INITIAL_DICTIONARY), 0
    end = len(INITIAL_DICTIONARY) + size
    while at < len(body) and len(made) < end:
        kinds, at = body[at], at + 1
        for bit in range(8):
            if not kinds >> bit & 1:
                made += body[at : at + 1]
                at += 1
                continue
            given = int.from_bytes(body[at : at + 2], "big")
            place, length, at = given >> 4, (given & 15) + 2, at + 2
            back = (len(made) - place) % window_bytes
            if back == 0 or back > len(made) or at > len(body):  # a reference to where one writes is the end
                return bytes(made[len(INITIAL_DICTIONARY) : end])
            for _ in range(length):
                made.append(made[-back])
    return bytes(made[len(INITIAL_DICTIONARY) : end])
