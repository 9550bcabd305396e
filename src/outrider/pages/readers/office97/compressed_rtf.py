"""Decompress RTF as Exchange packs it (MS-OXRTFCP), an LZ77 variant with a 4,096-byte window."""

import struct

# The initial content of the window (section 2.1.3.1.1).
INITIAL_DICTIONARY = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor MS Sans Serif"
    rb"SymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0"
    b"\r\n"
    rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)


def decompress_rtf(body: bytes) -> bytes:
    """Return the RTF up to the first damage; empty if the body is not compressed RTF."""
    max_bytes = 20_000_000
    if len(body) < 16:
        return b""
    size, signature = struct.unpack_from("<L4s", body, 4)
    if signature == b"MELA":  # stored without compression
        return body[16 : 16 + size]
    return _decompress_body(body[16:], min(size, max_bytes)) if signature == b"LZFu" else b""


def _decompress_body(body: bytes, size: int) -> bytes:
    window_bytes = 4_096
    output, at = bytearray(INITIAL_DICTIONARY), 0
    end = len(INITIAL_DICTIONARY) + size
    while at < len(body) and len(output) < end:
        flags, at = body[at], at + 1
        for bit in range(8):
            if not flags >> bit & 1:
                output += body[at : at + 1]
                at += 1
                continue
            reference = int.from_bytes(body[at : at + 2], "big")
            position, length, at = reference >> 4, (reference & 15) + 2, at + 2
            distance = (len(output) - position) % window_bytes
            # A reference to the current position marks the end.
            if distance == 0 or distance > len(output) or at > len(body):
                return bytes(output[len(INITIAL_DICTIONARY) : end])
            for _ in range(length):
                output.append(output[-distance])
    return bytes(output[len(INITIAL_DICTIONARY) : end])
