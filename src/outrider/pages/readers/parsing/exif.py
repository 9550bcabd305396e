"""What a camera noted in a picture (Exif 3.0, CIPA DC-008): TIFF directories of tagged values."""

import struct
from typing import NamedTuple

TEXT_TAGS = {
    0x010E: "description", 0x010F: "maker", 0x0110: "camera", 0x0131: "software", 0x0132: "changed",
    0x013B: "artist", 0x8298: "copyright", 0x9003: "taken", 0xA434: "lens",
}  # fmt: skip
WIDTH_TAG, HEIGHT_TAG, EXIF_TAG, GPS_TAG = 0x0100, 0x0101, 0x8769, 0x8825
ASCII_TYPE, SHORT_TYPE, LONG_TYPE = 2, 3, 4


class ExifData(NamedTuple):
    """Texts by name, whether there is a place among the notes, and the size where the directory has it."""

    texts: dict[str, str]
    has_location: bool
    width: int = 0
    height: int = 0


def read_exif(block: bytes) -> ExifData:
    """The notes in a TIFF block; nothing where it is none. Where the picture was taken is not among them."""
    order = {b"II*\x00": "<", b"MM\x00*": ">"}.get(block[:4])
    if order is None:
        return ExifData({}, has_location=False)
    texts: dict[str, str] = {}
    numbers: dict[int, int] = {}
    for directory in (struct.unpack_from(order + "L", block, 4)[0] if len(block) >= 8 else 0, 0):
        _read_directory(block, order, directory or numbers.get(EXIF_TAG, 0), texts, numbers)
    return ExifData(texts, GPS_TAG in numbers, numbers.get(WIDTH_TAG, 0), numbers.get(HEIGHT_TAG, 0))


def _read_directory(block: bytes, order: str, at: int, texts: dict[str, str], numbers: dict[int, int]) -> None:
    max_value_bytes = 1_000  # bytes of a text that are kept
    max_entries = 500
    if not 8 <= at <= len(block) - 2:
        return
    count = min(max_entries, struct.unpack_from(order + "H", block, at)[0], (len(block) - at - 2) // 12)
    for entry in range(at + 2, at + 2 + 12 * count, 12):
        tag, kind, size = struct.unpack_from(order + "HHL", block, entry)
        if kind == ASCII_TYPE and tag in TEXT_TAGS:
            start = struct.unpack_from(order + "L", block, entry + 8)[0] if size > 4 else entry + 8
            text = (
                block[start : start + min(size, max_value_bytes)].split(b"\x00")[0].decode("utf-8", "replace").strip()
            )
            if text:
                texts.setdefault(TEXT_TAGS[tag], text)
        elif kind in (SHORT_TYPE, LONG_TYPE):
            numbers.setdefault(
                tag, struct.unpack_from(order + ("H" if kind == SHORT_TYPE else "L"), block, entry + 8)[0]
            )
