"""Join WebP pictures to an animated one, without encoding them again."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class _Frame:
    """The chunks of one picture's image data, its size in pixels, and whether it has transparency."""

    chunks: bytes
    width: int
    height: int
    has_alpha: bool


def build_animation(pictures: Sequence[bytes], durations_ms: Sequence[int]) -> bytes:
    """Return an animated WebP that repeats (RFC 9649, section 2.7). A smaller picture is shown at the top left.

    Raises:
        ValueError: A picture is not a WebP with lossy image data, as browsers take them.
    """
    max_duration_ms = 2**24 - 1
    frames = [_read_frame(picture) for picture in pictures]
    width, height = max(frame.width for frame in frames), max(frame.height for frame in frames)
    flags = 0x02 | (0x10 if any(frame.has_alpha for frame in frames) else 0)
    parts = [
        _build_chunk(b"VP8X", bytes([flags, 0, 0, 0]) + _pack_24(width - 1) + _pack_24(height - 1)),
        _build_chunk(b"ANIM", struct.pack("<IH", 0xFFFFFFFF, 0)),
    ]
    for frame, duration_ms in zip(frames, durations_ms, strict=True):
        size = _pack_24(frame.width - 1) + _pack_24(frame.height - 1)
        timing = _pack_24(min(max(duration_ms, 0), max_duration_ms))
        clears_first = b"\x03"  # neither blended with the frame before nor left below the next
        parts.append(_build_chunk(b"ANMF", bytes(6) + size + timing + clears_first + frame.chunks))
    body = b"WEBP" + b"".join(parts)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def _read_frame(picture: bytes) -> _Frame:
    """Read a WebP picture's image data."""
    if picture[:4] != b"RIFF" or picture[8:12] != b"WEBP":
        raise ValueError("the picture is not a WebP")
    chunks, offset = {}, 12
    while offset + 8 <= len(picture):
        kind, size = struct.unpack_from("<4sI", picture, offset)
        chunks[kind] = picture[offset + 8 : offset + 8 + size]
        offset += 8 + size + size % 2
    image = chunks.get(b"VP8 ", b"")
    if image[3:6] != b"\x9d\x01\x2a" or len(image) < 10:  # the start code of a key frame (RFC 6386, section 9.1)
        raise ValueError("the picture has no lossy image data")
    width, height = (side & 0x3FFF for side in struct.unpack_from("<HH", image, 6))
    alpha = chunks.get(b"ALPH")
    prefix = _build_chunk(b"ALPH", alpha) if alpha is not None else b""
    return _Frame(prefix + _build_chunk(b"VP8 ", image), width, height, alpha is not None)


def _build_chunk(kind: bytes, payload: bytes) -> bytes:
    return kind + struct.pack("<I", len(payload)) + payload + bytes(len(payload) % 2)


def _pack_24(number: int) -> bytes:
    return number.to_bytes(3, "little")
