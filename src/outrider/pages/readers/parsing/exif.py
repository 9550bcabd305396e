"""Read camera metadata (Exif 3.0, CIPA DC-008): TIFF directories of tagged values."""

import struct
from typing import NamedTuple

TEXT_TAGS = {
    0x010E: "description", 0x010F: "maker", 0x0110: "camera", 0x0131: "software", 0x0132: "changed",
    0x013B: "artist", 0x8298: "copyright", 0x9003: "taken", 0xA434: "lens",
}  # fmt: skip


class ExifData(NamedTuple):
    """Texts by name, whether a location is recorded, and the image's size where the directory has it."""

    texts: dict[str, str]
    has_location: bool
    width: int = 0
    height: int = 0


def read_exif(block: bytes) -> ExifData:
    """Return the metadata in a TIFF block; empty if it is not one. The location itself is left out."""
    width_tag, height_tag, exif_tag, gps_tag = 0x0100, 0x0101, 0x8769, 0x8825
    order = {b"II*\x00": "<", b"MM\x00*": ">"}.get(block[:4])
    if order is None:
        return ExifData({}, has_location=False)
    texts: dict[str, str] = {}
    numbers: dict[int, int] = {}
    first = struct.unpack_from(order + "L", block, 4)[0] if len(block) >= 8 else 0
    _read_directory(block, order, first, texts, numbers)
    _read_directory(block, order, numbers.get(exif_tag, 0), texts, numbers)
    return ExifData(texts, gps_tag in numbers, numbers.get(width_tag, 0), numbers.get(height_tag, 0))


def _read_directory(block: bytes, order: str, at: int, texts: dict[str, str], numbers: dict[int, int]) -> None:
    max_value_bytes = 1_000
    max_entries = 500
    ascii_type, short_type, long_type = 2, 3, 4
    if not 8 <= at <= len(block) - 2:
        return
    count = min(max_entries, struct.unpack_from(order + "H", block, at)[0], (len(block) - at - 2) // 12)
    for entry in range(at + 2, at + 2 + 12 * count, 12):
        tag, kind, size = struct.unpack_from(order + "HHL", block, entry)
        if kind == ascii_type and tag in TEXT_TAGS:
            # Values of at most four bytes stand in the entry itself.
            start = struct.unpack_from(order + "L", block, entry + 8)[0] if size > 4 else entry + 8
            value = block[start : start + min(size, max_value_bytes)].split(b"\x00")[0]
            if text := value.decode("utf-8", "replace").strip():
                texts.setdefault(TEXT_TAGS[tag], text)
        elif kind in (short_type, long_type):
            numbers.setdefault(
                tag, struct.unpack_from(order + ("H" if kind == short_type else "L"), block, entry + 8)[0]
            )
