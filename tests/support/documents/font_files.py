"""Build a TrueType font whose glyphs are all the same square, for PDFs that must not depend on system fonts."""

import struct

UNITS_PER_EM, ASCENT, DESCENT = 1_000, 880, -120


def build_square_font(glyph_count: int) -> bytes:
    """Return a font with glyph 0 and `glyph_count` more, each as wide as high (Apple TrueType Reference Manual)."""
    total = glyph_count + 1
    square = _build_square()
    tables = {
        b"glyf": square * total,
        b"head": struct.pack(
            ">4L2H2q4h2H3h",
            *(0x10000, 0x10000, 0, 0x5F0F3CF5),  # versions, checksum, magic number
            *(3, UNITS_PER_EM, 0, 0),  # flags, units, times of creation and change
            *(0, 0, UNITS_PER_EM, UNITS_PER_EM),  # bounds
            *(0, 8, 2, 1, 0),  # style, smallest size, direction, long offsets in `loca`, glyph format
        ),
        b"hhea": struct.pack(">L3hH11hH", 0x10000, ASCENT, DESCENT, 0, UNITS_PER_EM, *(0,) * 11, total),
        b"hmtx": struct.pack(">Hh", UNITS_PER_EM, 0) * total,
        b"loca": struct.pack(f">{total + 1}L", *range(0, len(square) * (total + 1), len(square))),
        b"maxp": struct.pack(">L14H", 0x10000, total, 4, 1, *(0,) * 11),
    }
    directory = struct.pack(">L4H", 0x10000, len(tables), 64, 2, 16 * len(tables) - 64)
    offset, bodies = len(directory) + 16 * len(tables), b""
    for tag, table in tables.items():
        padded = table + bytes(-len(table) % 4)
        checksum = sum(struct.unpack(f">{len(padded) // 4}L", padded)) & 0xFFFFFFFF
        directory += struct.pack(">4s3L", tag, checksum, offset + len(bodies), len(table))
        bodies += padded
    return directory + bodies


def _build_square() -> bytes:
    """Return a simple glyph of one contour with four points on the curve."""
    header = struct.pack(">5h", 1, 0, 0, UNITS_PER_EM, UNITS_PER_EM)
    flags = b"\x01" * 4
    x_steps = struct.pack(">4h", 0, UNITS_PER_EM, 0, -UNITS_PER_EM)
    y_steps = struct.pack(">4h", 0, 0, UNITS_PER_EM, 0)
    glyph = header + struct.pack(">2H", 3, 0) + flags + x_steps + y_steps  # last point, no instructions
    return glyph + bytes(-len(glyph) % 4)
