"""Pictures: their type, size and notes, for files at hand. Those on the web are saved instead of read.

The headers are read by a few lines of our own: decoding hostile pictures is what Pillow would add.
Where a picture was taken is left out, and that it is known is said: nobody asked for it, and it is
where somebody lives more often than not.
"""

import re
import struct
import zlib
from dataclasses import dataclass, field

from outrider.pages.document import Document
from outrider.pages.reader import Reader, Source
from outrider.pages.readers.parts.exif import Noted, exif
from outrider.pages.readers.parts.refusals import broken
from outrider.pages.readers.parts.writing import Draft
from outrider.pages.sniffing.markup import Tag, tokens
from outrider.pages.sniffing.sniff import HEAD, is_svg, magic_type

FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})  # markers that begin a picture (ITU-T T.81 table B.1)
ISPE = re.compile(rb"ispe\x00\x00\x00\x00(.{8})", re.DOTALL)  # image spatial extents (ISO/IEC 23008-12 section 6.5.3)
SVG_TAGS = 20_000
CHUNKS = 2_000
TEXT = 2_000
ZIPPED = 4_000  # bytes of a packed text
SHOWN = ("title", "description", "artist", "copyright", "taken", "changed", "maker", "camera", "lens", "software")
TAKEN = re.compile(r"(\d{4}):(\d{2}):(\d{2})(?: (\d{2}:\d{2}:\d{2}))?")


@dataclass
class Facts:
    """What a picture's header says."""

    width: int = 0
    height: int = 0
    texts: dict[str, str] = field(default_factory=dict)
    located: bool = False

    def note(self, noted: Noted) -> None:
        """Takes in what the camera noted."""
        self.texts |= noted.texts
        self.located = self.located or noted.located


def read(source: Source) -> Document:
    """Type, size in pixels, and what the maker wrote into it; the words of a drawing in SVG.

    Raises:
        Unavailable: code `broken_file`, if it is no picture.
    """
    head = source.body[:HEAD]
    kind = magic_type(head)
    if not kind and is_svg(head):
        return _drawing(source)
    if not kind.startswith("image/"):
        raise broken(source, "picture", "it does not begin as one")
    facts = Facts()
    try:
        READERS.get(kind, _boxes)(source.body, facts)
    except (struct.error, IndexError):
        raise broken(source, "picture", "it is cut") from None
    return _document(source, kind, facts)


def _document(source: Source, kind: str, facts: Facts) -> Document:
    draft = Draft(source, "image")
    size = f", {facts.width} × {facts.height} pixels" if facts.width and facts.height else ""
    draft.add(f"A picture ({kind}{size}, {len(source.body)} bytes).")
    for name in SHOWN:
        if name in facts.texts:
            draft.item(0, f"{name}: {' '.join(facts.texts[name].split())}")
    if facts.located:
        draft.add("(It also notes where it was taken, which is left out.)")
    texts = facts.texts
    found = TAKEN.match(texts.get("taken") or texts.get("changed", ""))
    date = f"{found[1]}-{found[2]}-{found[3]}" + (f"T{found[4]}" if found[4] else "") if found else ""
    known = {"content_type": kind, "width": facts.width, "height": facts.height, "located": facts.located}
    named = {"title": texts.get("title", ""), "description": texts.get("description", "")}
    return draft.document(
        named | {"author": texts.get("artist", ""), "published": date},
        metadata={name: value for name, value in known.items() if value},
    )


def _png(body: bytes, facts: Facts) -> None:
    """Chunks (w3.org/TR/png-3 section 5)."""
    facts.width, facts.height = struct.unpack_from(">LL", body, 16)
    at, left = 8, CHUNKS
    while at + 12 <= len(body) and left:
        size, name = struct.unpack_from(">L4s", body, at)
        data = body[at + 8 : at + 8 + size]
        if name == b"tEXt":
            key, _, value = data[: TEXT + 80].partition(b"\x00")
            facts.texts.setdefault(key.decode("latin-1").lower(), value.decode("latin-1"))
        elif name == b"zTXt":
            key, _, value = data[:ZIPPED].partition(b"\x00")
            facts.texts.setdefault(key.decode("latin-1").lower(), _unzipped(value[1:]).decode("latin-1"))
        elif name == b"iTXt":
            key, _, rest = data[: TEXT + 200].partition(b"\x00")
            if rest[:1] == b"\x00":
                text = rest[2:].split(b"\x00", 2)[-1]
                facts.texts.setdefault(key.decode("latin-1").lower(), text.decode("utf-8", "replace"))
        elif name == b"eXIf":
            facts.note(exif(data))
        at, left = at + 12 + size, left - 1
    facts.texts.setdefault("artist", facts.texts.pop("author", ""))
    facts.texts = {name: text for name, text in facts.texts.items() if text.strip()}


def _unzipped(data: bytes) -> bytes:
    """The first letters of a text that is packed; none if it is damaged."""
    try:
        return zlib.decompressobj().decompress(data, TEXT)
    except zlib.error:
        return b""


def _jpeg(body: bytes, facts: Facts) -> None:
    """Segments (ITU-T T.81 annex B); Exif stands in the first ones."""
    at, left = 2, CHUNKS
    while at + 4 <= len(body) and body[at] == 0xFF and left:
        marker, size = body[at + 1], struct.unpack_from(">H", body, at + 2)[0]
        if marker in FRAMES:
            facts.height, facts.width = struct.unpack_from(">HH", body, at + 5)
            return
        if marker == 0xE1 and body.startswith(b"Exif\x00\x00", at + 4):
            facts.note(exif(body[at + 10 : at + 2 + size]))
        elif marker == 0xFE:
            facts.texts.setdefault("description", body[at + 4 : at + 2 + min(size, TEXT)].decode("utf-8", "replace"))
        at, left = at + 2 + max(2, size), left - 1


def _gif(body: bytes, facts: Facts) -> None:
    facts.width, facts.height = struct.unpack_from("<HH", body, 6)


def _bmp(body: bytes, facts: Facts) -> None:
    width, height = struct.unpack_from("<ll", body, 18)
    facts.width, facts.height = abs(width), abs(height)


def _icon(body: bytes, facts: Facts) -> None:
    facts.width, facts.height = body[6] or 256, body[7] or 256


def _tiff(body: bytes, facts: Facts) -> None:
    noted = exif(body)
    facts.note(noted)
    facts.width, facts.height = noted.width, noted.height


def _webp(body: bytes, facts: Facts) -> None:
    """Its three kinds of first chunk (RFC 9649 section 2)."""
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
        facts.note(exif(block.removeprefix(b"Exif\x00\x00")))


def _boxes(body: bytes, facts: Facts) -> None:
    """AVIF, HEIC and the like: the largest extent is the picture's, smaller ones are tiles and thumbnails."""
    sizes = [struct.unpack(">LL", found[1]) for found in list(ISPE.finditer(body[:200_000]))[:100]]
    if sizes:
        facts.width, facts.height = max(sizes, key=lambda size: size[0] * size[1])


def _drawing(source: Source) -> Document:
    """The title, the description and the words of an SVG (w3.org/TR/SVG2)."""
    draft = Draft(source, "image")
    found: dict[str, list[str]] = {"title": [], "desc": [], "text": []}
    inside = ""
    pieces: list[str] = []
    for token in tokens(source.text, tags=min(source.tags, SVG_TAGS), xml=True):
        if isinstance(token, Tag):
            name = token.name.rpartition(":")[2]
            if name in found and not token.raw.endswith("/"):
                if inside and token.closing:
                    found[inside].append(" ".join("".join(pieces).split()))
                inside, pieces = ("" if token.closing else name), []
        elif inside:
            pieces.append(token.text)
    title = next(iter(found["title"]), "")
    draft.add(f"A drawing (image/svg+xml, {len(source.body)} bytes).")
    for each in (*found["title"][:100], *found["desc"][:100], *found["text"]):
        draft.add(each)
    facts = {"title": title, "description": next(iter(found["desc"]), "")}
    return draft.document(facts, metadata={"content_type": "image/svg+xml"})


READERS = {
    "image/png": _png,
    "image/jpeg": _jpeg,
    "image/gif": _gif,
    "image/bmp": _bmp,
    "image/x-icon": _icon,
    "image/tiff": _tiff,
    "image/webp": _webp,
}
reader = Reader("image", ("image/*",), read)
