"""Read the type, size and metadata of image files on disk. Images on the web are saved instead of read.

Only headers are parsed, here: a decoder such as Pillow would add an attack surface for hostile files.
The location of a photo is left out for privacy; the document only mentions that it is recorded.
"""

import re
import struct
import zlib
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import NamedTuple

from outrider.pages.document import Document
from outrider.pages.mime.html_tokens import HtmlTag, iter_tokens
from outrider.pages.mime.sniff import SNIFF_BYTES, is_svg, match_magic_number
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.parsing.draft import DocumentDraft
from outrider.pages.readers.parsing.errors import build_broken_error

TEXT_TAGS = {
    0x010E: "description", 0x010F: "maker", 0x0110: "camera", 0x0131: "software", 0x0132: "changed",
    0x013B: "artist", 0x8298: "copyright", 0x9003: "taken", 0xA434: "lens",
}  # fmt: skip
MAX_CHUNKS = 2_000
MAX_TEXT_BYTES = 2_000
EXIF_DATE = re.compile(r"(\d{4}):(\d{2}):(\d{2})(?: (\d{2}:\d{2}:\d{2}))?")


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
            # Values of at most four bytes are in the entry itself.
            start = struct.unpack_from(order + "L", block, entry + 8)[0] if size > 4 else entry + 8
            value = block[start : start + min(size, max_value_bytes)].split(b"\x00")[0]
            if text := value.decode("utf-8", "replace").strip():
                texts.setdefault(TEXT_TAGS[tag], text)
        elif kind in (short_type, long_type):
            numbers.setdefault(
                tag, struct.unpack_from(order + ("H" if kind == short_type else "L"), block, entry + 8)[0]
            )


@dataclass
class ImageFacts:
    """Facts from an image's header."""

    width: int = 0
    height: int = 0
    texts: dict[str, str] = field(default_factory=dict)
    has_location: bool = False

    def add_exif(self, exif: ExifData) -> None:
        """Merge the camera's metadata."""
        self.texts |= exif.texts
        self.has_location = self.has_location or exif.has_location


def read_image(source: ReaderInput) -> Document:
    """Return type, size in pixels and embedded metadata of an image; of an SVG its words.

    Raises:
        Unavailable: code `broken_file`, if it is not an image.
    """
    head = source.body[:SNIFF_BYTES]
    kind = match_magic_number(head)
    if not kind and is_svg(head):
        return _read_svg(source)
    if not kind.startswith("image/"):
        raise build_broken_error(source, "picture", "it does not start like a file of a known format")
    facts = ImageFacts()
    try:
        HEADER_PARSERS.get(kind, _parse_heif)(source.body, facts)
    except (struct.error, IndexError):
        raise build_broken_error(source, "picture", "it is cut") from None
    return _build_document(source, kind, facts)


def _build_document(source: ReaderInput, kind: str, facts: ImageFacts) -> Document:
    shown_texts = (
        "title",
        "description",
        "artist",
        "copyright",
        "taken",
        "changed",
        "maker",
        "camera",
        "lens",
        "software",
    )
    draft = DocumentDraft(source, "image")
    size = f", {facts.width} × {facts.height} pixels" if facts.width and facts.height else ""
    draft.add_block(f"A picture ({kind}{size}, {len(source.body)} bytes).")
    for name in shown_texts:
        if name in facts.texts:
            draft.add_item(0, f"{name}: {' '.join(facts.texts[name].split())}")
    if facts.has_location:
        draft.add_block("(It also records where it was taken; that is left out here.)")
    texts = facts.texts
    date_match = EXIF_DATE.match(texts.get("taken") or texts.get("changed", ""))
    date = (
        f"{date_match[1]}-{date_match[2]}-{date_match[3]}" + (f"T{date_match[4]}" if date_match[4] else "")
        if date_match
        else ""
    )
    known = {"content_type": kind, "width": facts.width, "height": facts.height, "located": facts.has_location}
    named = {"title": texts.get("title", ""), "description": texts.get("description", "")}
    return draft.build_document(
        named | {"author": texts.get("artist", ""), "published": date},
        metadata={name: value for name, value in known.items() if value},
    )


def _parse_png(body: bytes, facts: ImageFacts) -> None:
    """Parse PNG chunks (w3.org/TR/png-3 section 5)."""
    max_packed_bytes = 4_000  # of a compressed text
    facts.width, facts.height = struct.unpack_from(">LL", body, 16)
    at, chunks_left = 8, MAX_CHUNKS
    while at + 12 <= len(body) and chunks_left:
        size, name = struct.unpack_from(">L4s", body, at)
        data = body[at + 8 : at + 8 + size]
        if name == b"tEXt":
            key, _, value = data[: MAX_TEXT_BYTES + 80].partition(b"\x00")
            facts.texts.setdefault(key.decode("latin-1").lower(), value.decode("latin-1"))
        elif name == b"zTXt":
            key, _, value = data[:max_packed_bytes].partition(b"\x00")
            text = b""
            with suppress(zlib.error):
                text = zlib.decompressobj().decompress(value[1:], MAX_TEXT_BYTES)
            facts.texts.setdefault(key.decode("latin-1").lower(), text.decode("latin-1"))
        elif name == b"iTXt":
            key, _, rest = data[: MAX_TEXT_BYTES + 200].partition(b"\x00")
            if rest[:1] == b"\x00":
                value = rest[2:].split(b"\x00", 2)[-1]
                facts.texts.setdefault(key.decode("latin-1").lower(), value.decode("utf-8", "replace"))
        elif name == b"eXIf":
            facts.add_exif(read_exif(data))
        at, chunks_left = at + 12 + size, chunks_left - 1
    facts.texts.setdefault("artist", facts.texts.pop("author", ""))
    facts.texts = {name: text for name, text in facts.texts.items() if text.strip()}


def _parse_jpeg(body: bytes, facts: ImageFacts) -> None:
    """Parse JPEG segments (ITU-T T.81 annex B) up to the first frame header."""
    frame_markers = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # table B.1
    at, chunks_left = 2, MAX_CHUNKS
    while at + 4 <= len(body) and body[at] == 0xFF and chunks_left:
        marker, size = body[at + 1], struct.unpack_from(">H", body, at + 2)[0]
        if marker in frame_markers:
            facts.height, facts.width = struct.unpack_from(">HH", body, at + 5)
            return
        if marker == 0xE1 and body.startswith(b"Exif\x00\x00", at + 4):
            facts.add_exif(read_exif(body[at + 10 : at + 2 + size]))
        elif marker == 0xFE:
            facts.texts.setdefault(
                "description", body[at + 4 : at + 2 + min(size, MAX_TEXT_BYTES)].decode("utf-8", "replace")
            )
        at, chunks_left = at + 2 + max(2, size), chunks_left - 1


def _parse_fixed_header(kind: str, body: bytes, facts: ImageFacts) -> None:
    """Parse formats that have their size in one place: GIF, BMP and ICO."""
    if kind == "image/gif":
        facts.width, facts.height = struct.unpack_from("<HH", body, 6)
    elif kind == "image/bmp":
        width, height = struct.unpack_from("<ll", body, 18)
        facts.width, facts.height = abs(width), abs(height)
    else:
        facts.width, facts.height = body[6] or 256, body[7] or 256  # 0 means 256


def _parse_tiff(body: bytes, facts: ImageFacts) -> None:
    exif = read_exif(body)
    facts.add_exif(exif)
    facts.width, facts.height = exif.width, exif.height


def _parse_webp(body: bytes, facts: ImageFacts) -> None:
    """Parse WebP by its three kinds of first chunk (RFC 9649 section 2)."""
    kind = body[12:16]
    if kind == b"VP8X":
        facts.width = int.from_bytes(body[24:27], "little") + 1
        facts.height = int.from_bytes(body[27:30], "little") + 1
    elif kind == b"VP8L":
        bits = struct.unpack_from("<L", body, 21)[0]
        facts.width, facts.height = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    elif kind == b"VP8 ":
        width, height = struct.unpack_from("<HH", body, 26)
        facts.width, facts.height = width & 0x3FFF, height & 0x3FFF
    at = body.find(b"EXIF", 12)
    if at != -1:
        block = body[at + 8 :]
        facts.add_exif(read_exif(block.removeprefix(b"Exif\x00\x00")))


def _parse_heif(body: bytes, facts: ImageFacts) -> None:
    """Parse AVIF, HEIC and other HEIF files: the largest extent is the image, others are tiles."""
    extents = re.finditer(rb"ispe\x00\x00\x00\x00(.{8})", body[:200_000], re.DOTALL)  # ISO/IEC 23008-12 section 6.5.3
    sizes = [struct.unpack(">LL", extent[1]) for extent in islice(extents, 100)]
    if sizes:
        facts.width, facts.height = max(sizes, key=lambda size: size[0] * size[1])


def _read_svg(source: ReaderInput) -> Document:
    """Return the title, description and words of an SVG (w3.org/TR/SVG2)."""
    max_svg_tags = 20_000
    draft = DocumentDraft(source, "image")
    texts: dict[str, list[str]] = {"title": [], "desc": [], "text": []}
    inside = ""
    pieces: list[str] = []
    for token in iter_tokens(source.text, max_tags=min(source.max_tags, max_svg_tags), xml=True):
        if isinstance(token, HtmlTag):
            name = token.name.rpartition(":")[2]
            if name in texts and not token.raw.endswith("/"):
                if inside and token.closing:
                    texts[inside].append(" ".join("".join(pieces).split()))
                inside, pieces = ("" if token.closing else name), []
        elif inside:
            pieces.append(token.text)
    title = next(iter(texts["title"]), "")
    draft.add_block(f"A drawing (image/svg+xml, {len(source.body)} bytes).")
    for text in (*texts["title"][:100], *texts["desc"][:100], *texts["text"]):
        draft.add_block(text)
    facts = {"title": title, "description": next(iter(texts["desc"]), "")}
    return draft.build_document(facts, metadata={"content_type": "image/svg+xml"})


HEADER_PARSERS = {
    "image/png": _parse_png,
    "image/jpeg": _parse_jpeg,
    **{kind: partial(_parse_fixed_header, kind) for kind in ("image/gif", "image/bmp", "image/x-icon")},
    "image/tiff": _parse_tiff,
    "image/webp": _parse_webp,
}
reader = DocumentReader("image", ("image/*",), read_image)
